import { AppError } from '../../core/error.ts'
import { toWireEvent } from '../../core/events/sent-event.ts'
import { isSessionId } from '../../core/id.ts'
import type { JsonObject } from '../../core/json.ts'
import { isEnded, type RunHead, type RunRecord } from '../../core/run.ts'
import { type Reply, sse } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import { jsonSize } from '../../runtime/json-size.ts'
import type { RunHandle, SessionHistory } from '../../service/services.ts'
import { parseQuery } from '../../wire/parse.ts'
import { AgUiThreadQuery } from '../../wire/protocols/ag-ui.ts'
import { explainEnd } from '../explain-end.ts'
import { toFrames } from '../frames.ts'
import { fileAddressAt, fileIdIn } from '../kept-file.ts'
import { continuesAlone } from '../leaving.ts'
import { runUnderWay } from '../turns.ts'
import type { AgUiServices, AgUiSettings } from './ag-ui.ts'
import { beginRun, protocolName } from './begin.ts'
import { pauseOutcome } from './ending.ts'
import { type AgUiEvent, type AgUiMessage, encodeEvents, type Named, type Outcome, started } from './event.ts'
import { MessageFold, userMessage } from './messages.ts'
import { readInput } from './request.ts'
import { AgUiRun, type AgUiRunOptions } from './run.ts'
import { agUiStream } from './stream.ts'

/** How many characters a snapshot of messages has, and one turn more: clients take no frame above 10 MB. */
const mostCharacters = 6 * 1024 * 1024

/** What the routes of AG-UI do. */
export function createAgUi({ prefix, services: servicesOf, leaving, maxFiles }: AgUiSettings) {
  const fileAddress = fileAddressAt(prefix)

  async function run(request: HttpRequest): Promise<Reply> {
    const { agent: agentId = '' } = request.params
    const services = servicesOf(request)
    services.registry.get(agentId)
    const input = readInput(await request.body.json())
    const { threadId, runId, protocolVersion, options } = input
    const alone = continuesAlone(request)
    const continues = options.on_disconnect === undefined ? alone : options.on_disconnect === 'continue'
    const fileIdOf = (url: string) => fileIdIn(fileAddress, threadId, url)
    // Before it, as a run may have changed it and ended when it can be read again.
    const before = await stateOf(services, threadId)
    const begun = await beginRun({ services, request, agentId, input, continues, maxFiles, fileIdOf })
    request.body.release?.()
    const named: Named = { threadId, runId }
    const isModern = isOne(protocolVersion)
    if (begun.kind === 'refusal') {
      const { code, message } = begun
      return reply([started(named), { type: 'RUN_ERROR', message, code }], { 'X-Session-Id': threadId })
    }
    if (begun.kind === 'given up')
      return reply([started(named), cancelled(named, begun.run, isModern)], headersOf(begun.run))
    const { handle, from, ignored } = begun
    if (!continues) await leaving.follow(services, request, handle)
    const events = handle.events(0)[Symbol.asyncIterator]()
    const known = handle.replayed ? await stateAtStart(services, handle, from, before) : before
    const state = from === 1 && input.state !== undefined ? { ...known, ...input.state } : known
    const shown = agUiStream({ named, from, isModern, fileAddress, state }, events, () =>
      stateOf(services, threadId, { after: handle.runId }),
    )
    return sse(toFrames(shown.projection, shown.events, { runId: handle.runId, logger: services.logger }), {
      ...headersOf({ run_id: handle.runId, session_id: handle.sessionId }),
      ...(ignored.length > 0 && { 'X-Agentserve-Ignored': [...new Set(ignored)].join(', ') }),
    })
  }

  /** A thread as a run that brings its messages, and then the answer that is under way. */
  async function thread(request: HttpRequest): Promise<Reply> {
    const { agent: agentId = '', thread_id: threadId = '' } = request.params
    const services = servicesOf(request)
    services.registry.get(agentId)
    const { runId: name, protocolVersion, limit } = parseQuery(AgUiThreadQuery, request.query)
    if (!isSessionId(threadId)) throw new AppError('session_not_found', 'There is no such thread.')
    const found = await services.sessions.active(threadId)
    const history = await services.sessions.history(threadId, limit, true)
    const active = runUnderWay(found, history.runs)
    const newest = active ?? history.runs.at(-1)
    const about = newest && (await services.runs.get(newest.run_id))
    const isModern = isOne(protocolVersion)
    const named: Named = { threadId, runId: name ?? nameOf(about) ?? threadId }
    const from = active === undefined ? 1 : await stretchUnderWay(history, active.run_id)
    const { messages, outcome } = await told(history, active, from, { named, isModern, fileAddress })
    const state = await stateOf(services, threadId)
    const opening: AgUiEvent[] = [started(named)]
    if (about !== undefined) {
      const { run_id, session_id, entity_id: agent_id } = about
      opening.push({ type: 'CUSTOM', name: 'agentserve.run', value: { run_id, session_id, agent_id } })
    }
    opening.push({ type: 'MESSAGES_SNAPSHOT', messages })
    if (state && Object.keys(state).length > 0) opening.push({ type: 'STATE_SNAPSHOT', snapshot: state })
    const headers = about === undefined ? { 'X-Session-Id': threadId } : headersOf(about)
    if (active === undefined) return reply([...opening, { type: 'RUN_FINISHED', ...named, outcome }], headers)
    leaving.join(services, request, active.run_id)
    const events = (await services.runs.events(active.run_id, 0, request.signal))[Symbol.asyncIterator]()
    const options = { named, from, isModern, fileAddress, state, isBegun: true }
    const { run_id: activeId } = active
    const shown = agUiStream(options, events, () => stateOf(services, threadId, { after: activeId }))
    const frames = { runId: activeId, logger: services.logger, opening: encodeEvents(opening) }
    return sse(toFrames(shown.projection, shown.events, frames), headers)
  }

  return { run, thread }
}

/** Whether the client says that it speaks 1.0 or later: earlier ones say nothing. */
function isOne(protocolVersion: string | undefined): boolean {
  return protocolVersion !== undefined && protocolVersion !== ''
}

/** The messages of the turns, and what the last one waits for. The stretch of a run under way comes in the stream. */
async function told(
  { runs, events }: SessionHistory,
  active: RunHead | undefined,
  from: number,
  options: Pick<AgUiRunOptions, 'named' | 'isModern' | 'fileAddress'>,
): Promise<{ messages: AgUiMessage[]; outcome: Outcome }> {
  const { named, fileAddress } = options
  const turns: AgUiMessage[][] = []
  let outcome: Outcome = { type: 'success' }
  let characters = 0
  for (const run of runs.toReversed()) {
    if (characters >= mostCharacters) break
    const isActive = run.run_id === active?.run_id
    const shown = new AgUiRun({ ...options, from: 1, isHistory: true })
    const fold = new MessageFold()
    for await (const page of (isActive || isEnded(run.status)) && events !== undefined ? events(run.run_id) : []) {
      for (const event of page) {
        if (isActive && event.seq >= from) break
        for (const one of shown.add(toWireEvent(event, false))) fold.add(one)
      }
    }
    const input = run.messages.find(({ role }) => role === 'user')
    const turn = [...(input === undefined ? [] : [userMessage(input, named.threadId, fileAddress)]), ...fold.messages]
    const { asked, calls } = shown.waiting()
    if (turns.length === 0 && run.status === 'input_required')
      outcome = pauseOutcome({ asked, calls, isModern: options.isModern })
    turns.unshift(turn)
    characters += jsonSize(turn, mostCharacters)
  }
  return { messages: turns.flat(), outcome }
}

/** The number with which the stretch of the run begins that is under way. */
async function stretchUnderWay({ events }: SessionHistory, runId: string): Promise<number> {
  let from = 1
  for await (const page of events?.(runId, ['run_resumed']) ?? []) {
    for (const event of page) if (event.type === 'run_resumed' && event.from === 'input_required') from = event.seq
  }
  return from
}

/** The name that a client gave the run. */
function nameOf(run: RunRecord | undefined): string | undefined {
  const { name, echo } = run?.given?.protocol ?? {}
  return name === protocolName && typeof echo?.run_id === 'string' ? echo.run_id : run?.run_id
}

/** Of a run that was there before: what later runs did to the state is none of it. Undefined when it is not known. */
async function stateAtStart(
  services: AgUiServices,
  { runId, sessionId }: RunHandle,
  from: number,
  now: JsonObject | null | undefined,
): Promise<JsonObject | null | undefined> {
  if (from === 1) return stateOf(services, sessionId, { before: runId })
  // What the run left at an earlier pause is not recorded once it has ended.
  return isEnded((await services.runs.head(runId)).status) ? undefined : now
}

/** Undefined when the session is gone. */
async function stateOf(
  { sessions }: AgUiServices,
  threadId: string,
  at?: { before?: string; after?: string },
): Promise<JsonObject | null | undefined> {
  try {
    return await sessions.state(threadId, at)
  } catch (error) {
    if (error instanceof AppError && error.code === 'session_not_found') return undefined
    throw error
  }
}

function cancelled(named: Named, { run_id }: RunRecord, isModern: boolean): AgUiEvent {
  if (isModern) return { type: 'RUN_FINISHED', ...named, outcome: { type: 'cancelled' } }
  const about = { run_id, status: 'cancelled', error: null, cancellation_reason: 'requested' } as const
  return { type: 'RUN_ERROR', message: explainEnd(about), code: 'run_cancelled' }
}

function headersOf({ run_id, session_id }: Pick<RunRecord, 'run_id' | 'session_id'>): Record<string, string> {
  return { 'X-Run-Id': run_id, 'X-Session-Id': session_id }
}

function reply(events: readonly AgUiEvent[], headers: Record<string, string>): Reply {
  return sse(oneFrame(encodeEvents(events)), headers)
}

async function* oneFrame(frames: string): AsyncGenerator<string> {
  yield frames
}
