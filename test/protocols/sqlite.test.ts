import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { sqliteStore } from '../../src/store/sessions/sqlite/store.ts'
import { recordedRuns } from '../support/protocols/recorded-runs.ts'
import { openServices } from '../support/services.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  begunStretches,
  cuts,
  expectRecorded,
  follow,
  hasAsked,
  isStopped,
  recorded,
  startRecorded,
  wholeAt,
} from './recorded-streams.ts'

/** Servers on one database, one after the other. */
async function openServers() {
  const folder = await temporaryFolder()
  let close = async () => {}
  onTestFinished(async () => {
    await close()
    await folder[Symbol.asyncDispose]()
  })
  return async () => {
    await close()
    const store = sqliteStore({ path: join(folder.path, 'runs.db'), logger: silentLogger })
    const { runs } = await openServices({ recorded }, store)
    close = async () => {
      await runs.shutdown(0)
      await store.close()
    }
    return { runs }
  }
}

// One that is interrupted has lost its process: test/e2e/runs/killed-streams.test.ts.
const runs = recordedRuns.filter(({ run }) => run.status !== 'interrupted')

test.each(runs)(
  'each protocol has the same bytes live, later and after starts, and after a cut: $name',
  async (given) => {
    const { run, events } = given
    const start = await openServers()
    let server = await start()
    const runId = await startRecorded(server, given)
    for await (const stretch of begunStretches(given, runId, () => server)) {
      const finish = async () => {
        if (isStopped(run.status, stretch)) await server.runs.cancel(runId, 'requested')
      }
      await follow({ home: server, all: [server] }, runId, finish, cuts)
      const before = await wholeAt(server, runId)
      // A pause is answered by the next one.
      server = await start()
      expect(await wholeAt(server, runId)).toEqual(before)
    }
    // It waits until it is cancelled: another end than the one that was streamed.
    if (run.status === 'cancelled' && hasAsked(events)) {
      await server.runs.cancel(runId, run.cancellation_reason ?? undefined)
      const ended = await wholeAt(server, runId)
      server = await start()
      expect(await wholeAt(server, runId)).toEqual(ended)
    }
    await expectRecorded(server, runId, given)
  },
)
