import { AppError, isAppError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { toWireEvent } from '../../core/events/sent-event.ts'
import type { Json } from '../../core/json.ts'
import type { RunRecord } from '../../core/run.ts'
import type { RunPiece, SessionCopy, SessionHead, SessionRecord } from '../../core/session.ts'
import { parseJson, parseLarge } from '../../http/body/json-guard.ts'
import { json, stream } from '../../http/reply.ts'
import { encodeLarge, isLarge } from '../../runtime/json.ts'
import { Pace } from '../../runtime/yield.ts'
import type { Costs, Idempotency, Services, SessionPiece } from '../../service/services.ts'
import {
  CopyReader,
  CopyWriter,
  copyMediaType,
  ExportQuery,
  ImportQuery,
  SessionCopyLine,
} from '../../wire/copies/session-copy.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { parseBody, parseQuery } from '../../wire/parse.ts'
import { ForkSessionRequest, Session } from '../../wire/session.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { etagOf } from '../route/etag.ts'
import { readIdempotency, streamWithIdempotency } from '../route/idempotency.ts'
import { maySeePrompts } from '../route/included-prompts.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'
import { toSession } from '../runs/answer.ts'

const route = routesAbout('Sessions', 'sessions')

const params = { id: 'The session.' }
/** Maximum line of a copy: a run with its messages. */
const maxLineBytes = 64 * 1024 * 1024
/** Longer lines are parsed in steps that yield to the event loop. */
const largeLine = 1024 * 1024
const lineEnd = Buffer.from('\n')
const made = jsonAnswer('The new session.', Session, {
  ETag: 'The version of the session, for If-Match.',
  Location: 'The path of the session.',
})
const headers = { 'Idempotency-Key': 'A retry with the same key and body returns the first answer.' }

export function sessionCopyRoutes({ prefix, importBytes }: ApiSettings): DocumentedRoute[] {
  const path = `${prefix}/sessions`
  const answer = (record: SessionRecord, costs: Costs) => {
    const location = `${path}/${encodeURIComponent(record.session.session_id)}`
    return json(toSession(record.session, costs), 201, { Location: location, ETag: etagOf(record) })
  }
  return [
    route('POST', `${path}/:id/fork`, 'forkSession', {
      summary: 'Fork a session: copy its runs into a new one',
      description:
        'Copies the runs up to `run_id`, with their messages and events, under new ids. `metadata.forked_from` names the ' +
        'session and the last run. The new session gets the current state of the session. With `before_run_id` it has the ' +
        'conversation and the state from before that turn, and no runs before the first one.',
      params,
      headers,
      body: { required: false, content: { 'application/json': ForkSessionRequest } },
      responses: { 201: made },
      errors: ['session_not_found', 'run_not_found', 'conflict', 'idempotency_mismatch'],
      takesLong: true,
      handle: async (request, { sessions, once, costs }) => {
        const id = pathId(request)
        const fork = async () => {
          await sessions.get(id)
          const body = parseBody(ForkSessionRequest, await request.body.json())
          const { run_id: runId, before_run_id: beforeRunId, session_id: sessionId } = body
          return sessions.fork(id, { runId, beforeRunId, sessionId })
        }
        return answer(await makeOnce(once, await readIdempotency(request, 'POST /sessions/fork'), fork), costs)
      },
    }),
    route('GET', `${path}/:id/export`, 'exportSession', {
      summary: 'Export a session as JSON lines',
      description:
        'The session, then each run followed by its events and files, then a last line of type `end`. Runs that have not ended are left out. ' +
        'Importing the lines creates the same session again. Exact prompts are included for keys with the scope `prompts`.',
      params,
      query: ExportQuery,
      responses: { 200: { description: 'One JSON object per line.', content: { [copyMediaType]: SessionCopyLine } } },
      errors: ['session_not_found'],
      handle: async (request, { sessions }) => {
        const id = pathId(request)
        await sessions.get(id)
        const { events } = parseQuery(ExportQuery, request.query)
        return stream(toCopyLines(await sessions.export(id, events), maySeePrompts(request)), copyMediaType)
      },
    }),
    route('POST', `${path}/import`, 'importSession', {
      summary: 'Import an exported session',
      description:
        'Imports the whole session or nothing. An existing id is 409; with `new_ids` all ids are new. The maximum body ' +
        'size is `limits.importSize`; a line may have at most 64 MB.',
      headers,
      query: ImportQuery,
      body: { required: true, content: { [copyMediaType]: SessionCopyLine } },
      responses: { 201: made },
      errors: ['conflict', 'idempotency_mismatch'],
      maxBodyBytes: importBytes,
      takesLong: true,
      handle: async (request, { sessions, once, costs }) => {
        const { new_ids: newIds } = parseQuery(ImportQuery, request.query)
        const { mediaType } = request.body
        if (mediaType !== undefined && mediaType !== copyMediaType) {
          throw new AppError('unsupported_media_type', `Content-Type must be ${copyMediaType}, not ${mediaType}.`)
        }
        const { lines, idempotency } = streamWithIdempotency(request, 'POST /sessions/import', maxLineBytes)
        const load = async () => sessions.import(await readCopy(lines), { newIds })
        return answer(await makeOnce(once, idempotency, load), costs)
      },
    }),
  ]
}

function makeOnce(once: Services['once'], idempotency: Idempotency | undefined, make: () => Promise<SessionRecord>) {
  return once(idempotency, make as () => Promise<Json & SessionRecord>)
}

/** The recorded events; without `prompts`, exact prompts are left out. */
export function toCopyEvents(events: readonly RunEvent[], prompts: boolean): readonly RunEvent[] {
  return prompts ? events : events.map((event) => toWireEvent(event, false))
}

/**
 * The recorded run; without `prompts`, what an operator changed of a repeated one is left out, and what only a later version knows
 * how to show.
 */
export function toCopyRun(run: RunRecord, prompts: boolean): RunRecord {
  if (prompts) return run
  const { later: _later, ...shown } = run
  if (run.given?.edit === undefined) return shown
  const { edit: _edit, ...given } = run.given
  return { ...shown, given: Object.keys(given).length === 0 ? null : given }
}

export async function* toCopyLines(pieces: AsyncIterable<SessionPiece>, prompts: boolean): AsyncGenerator<Uint8Array> {
  const writer = new CopyWriter()
  for await (const piece of pieces) {
    if ('session' in piece) yield* toLine(writer.session(piece))
    else if ('events' in piece) yield* toLine(writer.events(piece.run_id, toCopyEvents(piece.events, prompts)))
    else if ('file' in piece) yield* toLine(writer.file(piece.run_id, piece.file))
    else yield* toLine(writer.run(toCopyRun(piece.run, prompts)))
  }
  yield* toLine(writer.end())
}

/** One line, in pieces, because it may take megabytes. */
export async function* toLine(line: object): AsyncGenerator<Uint8Array> {
  if (isLarge(line)) {
    yield* encodeLarge(line)
    yield lineEnd
  } else yield Buffer.from(`${JSON.stringify(line)}\n`)
}

/** Reads the first line, the session. The other lines are read when the runs are iterated. */
async function readCopy(lines: AsyncGenerator<string>): Promise<SessionCopy> {
  const pieces = readPieces(lines)
  const { value: first } = await pieces.next()
  if (first === undefined || !('session' in first))
    throw new CopyReader().complaint('the first line must be of type session')
  return { ...first, runs: pieces as AsyncGenerator<RunPiece> }
}

async function* readPieces(lines: AsyncGenerator<string>): AsyncGenerator<SessionHead | RunPiece> {
  const reader = new CopyReader()
  const pace = new Pace()
  for await (const line of lines) {
    reader.nextLine()
    if (line.trim() === '') continue
    const piece = reader.add(await readLine(line, reader))
    if (piece !== undefined) yield piece
    await pace.step()
  }
  reader.finish()
}

async function readLine(line: string, reader: CopyReader): Promise<unknown> {
  try {
    return await (line.length > largeLine ? parseLarge(line) : parseJson(line))
  } catch (error) {
    if (isAppError(error)) throw reader.complaint(error.message.replace(/\.$/, ''))
    throw error
  }
}
