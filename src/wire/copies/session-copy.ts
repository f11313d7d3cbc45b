import { z } from 'zod'
import { AppError } from '../../core/error.ts'
import { type RunEvent as CoreRunEvent, isFinalEvent, isKnownType } from '../../core/event.ts'
import { isWebAddress } from '../../core/file.ts'
import { type Part as CorePart, contentOf } from '../../core/message.ts'
import { isEnded, type RunRecord } from '../../core/run.ts'
import type { CopiedFile, RunPiece, SessionHead } from '../../core/session.ts'
import { fromBase64 } from '../../runtime/base64.ts'
import { flag, id, integer, jsonObject, moment, text } from '../../schema/request-field.ts'
import { unknownFields } from '../../schema/unknown-fields.ts'
import { component } from '../document/component.ts'
import { EntityKind, ModelUsage, RecordedSource, RunError, RunEvent, RunStatus, Usage, Waiting } from '../event.ts'
import { Part } from '../message.ts'
import { AgainOf, RunGiven } from '../run.ts'
import { Session, sessionId } from '../session.ts'
import { Summary } from '../summary.ts'
import { asRead, isAddition, LaterEvent } from './copy-additions.ts'

/*
 * A session as JSON lines, for export and import: first the session, then each run followed by its events and files, last a line
 * with their numbers, so that a truncated file is detected.
 */

export const copyMediaType = 'application/x-ndjson'
const version = 1

const ids = z.array(id())
const recordId = text(1, 128)

const SessionLine = z.object({
  type: z.literal('session'),
  version: z.literal(version, { error: `must be ${version}; another version of agentserve may read it` }),
  session: Session.omit({ runs: true, run_count: true, summary: true }).extend({
    session_id: sessionId,
    agent_id: id().nullable(),
    team_id: id().nullable(),
    workflow_id: id().nullable(),
    user_id: id().nullable(),
    shared_with: z.object({ agent_ids: ids, team_ids: ids, workflow_ids: ids, user_ids: ids }),
    created_at: moment,
    updated_at: moment,
  }),
  summary: Summary.extend({ created_at: moment }).nullable(),
  handovers: z
    .record(id(), recordId.nullable())
    .optional()
    .describe('The last run that each user of `shared_with` may read. Null means none.'),
})

const Message = z.object({
  message_id: text(),
  run_id: recordId,
  role: z.enum(['user', 'assistant']),
  parts: z.array(Part),
  content: z.string(),
  created_at: moment,
})

const RunLine = z.object({
  type: z.literal('run'),
  run: z.object({
    run_id: recordId,
    session_id: sessionId,
    parent_run_id: recordId.nullable(),
    entity_id: id(),
    entity_kind: EntityKind,
    status: RunStatus.refine(isEnded, { error: 'must be the status of an ended run' }),
    created_at: moment,
    started_at: moment.nullable(),
    completed_at: moment,
    cancellation_reason: z.string().nullable(),
    error: RunError.nullable(),
    cache_hit: flag(),
    usage: Usage.nullable(),
    usage_by_model: z.array(ModelUsage).exactOptional(),
    user_id: id().nullable(),
    metadata: jsonObject().nullable(),
    background: flag(),
    timeout_ms: integer(0).nullable(),
    truncated: flag(),
    end_seq: integer(1),
    messages: z.array(Message),
    sources: z.array(RecordedSource),
    waiting: z.array(Waiting).default([]),
    replaced_by: recordId.nullable().default(null),
    again_of: AgainOf.nullable().default(null).describe('Kept when it names an earlier run of the copy.'),
    follows: recordId.exactOptional().describe('The turn before it, for a turn that has been replaced.'),
    given: RunGiven.nullable().default(null),
  }),
})

const EventsLine = z.object({
  type: z.literal('events'),
  run_id: recordId,
  events: z.array(z.looseObject({ type: z.string(), seq: integer(2), at: moment })).min(1),
})

const FileLine = z.object({
  type: z.literal('file'),
  run_id: recordId,
  file: z.object({
    file_id: z.string().regex(/^file_[0-9a-z]{1,64}$/, { error: 'must be the id of a file' }),
    media_type: text(1, 255),
    name: text(1, 255).nullable(),
    url: text().nullable(),
    size: integer(0),
  }),
  data: z.string().describe('The content, as base64.'),
})

const EndLine = z.object({
  type: z.literal('end'),
  runs: integer(0),
  events: integer(0),
  files: integer(0).default(0),
})

const Line = z.discriminatedUnion('type', [SessionLine, RunLine, EventsLine, FileLine, EndLine], {
  error: 'must be session, run, events, file or end',
})
export const SessionCopyLine = component('SessionCopyLine', Line)

export const ExportQuery = z.object({
  events: flag()
    .default(true)
    .describe('Include the recorded events of each run. Without them, the streams of the copy cannot be read.'),
})
export const ImportQuery = z.object({
  new_ids: flag().default(false).describe('Give the session, its runs and its messages new ids.'),
})

export class CopyWriter {
  #runs = 0
  #events = 0
  #files = 0

  session({ session, summary, handovers }: SessionHead): object {
    return { type: 'session', version, session, summary, handovers }
  }

  run({ later, ...run }: RunRecord): object {
    this.#runs++
    return { type: 'run', run: { ...run, ...later } }
  }

  events(runId: string, events: readonly CoreRunEvent[]): object {
    this.#events += events.length
    return { type: 'events', run_id: runId, events: events.map(({ run_id: _run, ...event }) => event) }
  }

  file(runId: string, { bytes, ...file }: CopiedFile): object {
    this.#files++
    const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
    return { type: 'file', run_id: runId, file: { ...file, size: bytes.byteLength }, data }
  }

  end(): object {
    return { type: 'end', runs: this.#runs, events: this.#events, ...(this.#files > 0 && { files: this.#files }) }
  }
}

/** Reads the values of a copy's lines. Every error is `invalid_request` and names the line. */
export class CopyReader {
  #line = 0
  #sessionId: string | undefined
  #runIds = new Set<string>()
  /** By turn, the run that replaced it. */
  #turns = new Map<string, string | null>()
  #last: { runId: string; seq: number; endSeq: number } | undefined
  #events = 0
  #fileIds = new Set<string>()
  #isWhole = false

  /** Call for each line before it is parsed. */
  nextLine(): void {
    this.#line++
  }

  /** The content of the line; undefined for the last one. */
  add(value: unknown): SessionHead | RunPiece | undefined {
    if (this.#isWhole) throw this.complaint('nothing may follow the line of type end')
    const result = Line.safeParse(value)
    if (!result.success) throw this.complaint(toWords(result.error.issues[0]))
    const line = result.data
    for (const { path, message } of unknownFields(Line, value))
      if (!isAddition(line.type, path)) throw this.complaint(`${path} ${message}`)
    if (line.type === 'session') {
      if (this.#sessionId !== undefined) throw this.complaint('a second session begins here: import one at a time')
      this.#sessionId = line.session.session_id
      return { session: line.session, summary: line.summary, handovers: line.handovers }
    }
    if (this.#sessionId === undefined) throw this.complaint('the first line must be of type session')
    if (line.type === 'run') return this.#toRun(asRead(line, value))
    if (line.type === 'events') return this.#toEvents(line)
    if (line.type === 'file') return this.#toFile(line)
    const { runs, events, files } = line
    if (runs !== this.#runIds.size || events !== this.#events || files !== this.#fileIds.size) {
      const found = counted(this.#runIds.size, this.#events, this.#fileIds.size)
      throw this.complaint(`expected ${counted(runs, events, files)}, but found ${found}`)
    }
    for (const runId of this.#turns.keys()) this.#checkMark(runId)
    this.#isWhole = true
    return undefined
  }

  /** The runs that replaced each other lead to one that is part of the conversation. */
  #checkMark(runId: string): void {
    const seen = new Set<string>()
    for (let next: string | null = runId; next !== null; ) {
      if (seen.has(next)) throw this.complaint(`the runs that replaced run '${runId}' replaced each other`)
      seen.add(next)
      const by = this.#turns.get(next)
      if (by === undefined) throw this.complaint(`run.replaced_by of run '${runId}' must name a turn of the session`)
      next = by
    }
  }

  /** Throws when the copy is incomplete. */
  finish(): void {
    if (!this.#isWhole) throw this.complaint('the copy is incomplete: the line of type end is missing')
  }

  complaint(words: string): AppError {
    const line = Math.max(this.#line, 1)
    return new AppError('invalid_request', `Line ${line}: ${words}.`, {
      details: [{ path: `line ${line}`, message: words }],
    })
  }

  #toRun(run: RunRecord): RunPiece {
    const { run_id, session_id, parent_run_id, replaced_by, follows, messages } = run
    if (session_id !== this.#sessionId) throw this.complaint("run.session_id must be the session's id")
    if (this.#runIds.has(run_id)) throw this.complaint(`run '${run_id}' occurs twice`)
    if (parent_run_id !== null && !this.#runIds.has(parent_run_id)) {
      throw this.complaint('run.parent_run_id must name an earlier run')
    }
    if (messages.some((message) => message.run_id !== run_id))
      throw this.complaint("each message must have the run's run_id")
    const parts = [...messages, ...(run.given?.history ?? [])].flatMap((message) => message.parts)
    if (!parts.every(isFound)) throw this.complaint('each file must have a file_id, or an http or https address as url')
    if (run.waiting.length > 0 && run.status !== 'input_required')
      throw this.complaint('run.waiting must be empty for a run that does not wait for input')
    if (parent_run_id === null) {
      if (follows !== undefined && !this.#turns.has(follows))
        throw this.complaint('run.follows must name an earlier turn')
      this.#turns.set(run_id, replaced_by)
    } else if (replaced_by !== null || follows !== undefined) {
      throw this.complaint('run.replaced_by must be null: a child run is no turn of the session')
    }
    this.#runIds.add(run_id)
    this.#last = { runId: run_id, seq: 1, endSeq: run.end_seq ?? 1 }
    const again_of = run.again_of !== null && this.#runIds.has(run.again_of.run_id) ? run.again_of : null
    const read = messages.map((message) => ({ ...message, content: contentOf(message.parts) }))
    return { run: { ...run, again_of, messages: read } }
  }

  #toFile({ run_id, file: { size, ...file }, data }: z.infer<typeof FileLine>): RunPiece {
    if (run_id !== this.#last?.runId) throw this.complaint('run_id must be the same as in the preceding run')
    if (this.#fileIds.has(file.file_id)) throw this.complaint(`file '${file.file_id}' occurs twice`)
    this.#fileIds.add(file.file_id)
    const bytes = fromBase64(data)
    if (bytes === undefined) throw this.complaint('data must be base64')
    if (file.url !== null && !isWebAddress(file.url)) throw this.complaint('file.url must be an http or https address')
    if (bytes.byteLength !== size) throw this.complaint(`file.size is ${size}, but data has ${bytes.byteLength} bytes`)
    return { run_id, file: { ...file, bytes } }
  }

  #toEvents({ run_id, events }: z.infer<typeof EventsLine>): RunPiece {
    const run = this.#last
    if (run?.runId !== run_id) throw this.complaint('run_id must be the same as in the preceding run')
    const read: CoreRunEvent[] = []
    for (const [place, fields] of events.entries()) {
      // The event as it was read, so that unknown fields are kept.
      const event = { ...fields, run_id } as unknown as CoreRunEvent
      const result = isKnownType(event.type) ? RunEvent.safeParse(event) : LaterEvent.safeParse(event)
      if (!result.success) throw this.complaint(`events.${place}.${toWords(result.error.issues[0])}`)
      if (event.type === 'run_start' || event.type === 'data_delta' || isFinalEvent(event))
        throw this.complaint(`events.${place}.type is not recorded`)
      if (event.seq <= run.seq) throw this.complaint(`events.${place}.seq must be larger than the preceding one`)
      if (event.seq >= run.endSeq) throw this.complaint(`events.${place}.seq must be smaller than run.end_seq`)
      run.seq = event.seq
      read.push(event)
      this.#events++
    }
    return { run_id, events: read }
  }
}

function isFound(part: CorePart): boolean {
  if (part.type !== 'file') return true
  return part.url === undefined ? part.file_id !== undefined : isWebAddress(part.url)
}

function counted(runs: number, events: number, files: number): string {
  return `${runs} runs${files === 0 ? ' and' : ','} ${events} events${files === 0 ? '' : ` and ${files} files`}`
}

function toWords(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'must be an object'
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')} ${issue.message}`
}
