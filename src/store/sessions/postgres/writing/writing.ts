import { AppError } from '../../../../core/error.ts'
import type { RunFinished } from '../../../../core/run-write.ts'
import type { SessionStore } from '../../../../core/store.ts'
import type { Database } from '../database.ts'
import { deleteContents } from '../files/files.ts'
import { beginRun } from './begin.ts'
import type { Outcome, Write } from './group.ts'
import { keepTry } from './keep-try.ts'
import { resumeRun } from './resume.ts'
import { restoreTurn } from './turns.ts'
import { Writer } from './writer.ts'

type Runs = Pick<
  SessionStore,
  'startRun' | 'beginRun' | 'appendEvents' | 'finishRun' | 'resumeRun' | 'restoreTurn' | 'keepTry'
>

export interface Writing {
  /** Once the tables are there. */
  open(): Promise<void>
  /** Waits for accepted writes. */
  close(): Promise<void>
  /** Rejects the writes that have no answer yet: this process was declared dead. */
  abandon(error: AppError): void
  /** See `Persistence`. */
  certain: Writer['certain']
  methods: Runs
}

/** The writes of runs. */
export function writing(database: Database): Writing {
  let writer: Writer | undefined
  const write = <T extends Outcome>(one: Write) =>
    (writer === undefined
      ? Promise.reject(new AppError('unavailable', 'The session store is not open.'))
      : writer.write(one)) as Promise<T>
  const certain: Writer['certain'] = (work) => (writer === undefined ? work(false) : writer.certain(work))
  const withoutContents = async (finished: RunFinished) => {
    await deleteContents(database)
    return finished
  }
  return {
    async open() {
      const opening = new Writer(database)
      await opening.open()
      writer = opening
    },
    async close() {
      const closing = writer
      writer = undefined
      await closing?.close()
    },
    abandon: (error) => writer?.abandon(error),
    certain,
    methods: {
      startRun: (start) => write({ kind: 'start', start }),
      appendEvents: (batch) => write({ kind: 'append', batch }),
      finishRun: (end) => {
        const finishing = write<RunFinished>({ kind: 'finish', end })
        return end.refused === undefined ? finishing : finishing.then(withoutContents)
      },
      beginRun: (runId, fence, at) => certain((again) => beginRun(database, runId, fence, at, again)),
      resumeRun: (resume) => certain((again) => resumeRun(database, resume, again)),
      restoreTurn: (runId, at) => database.work((sql) => restoreTurn(sql, runId, at)),
      keepTry: (kept) => database.work((sql) => keepTry(sql, kept)),
    },
  }
}
