import { AppError, notFound } from '../core/error.ts'
import type { RunEvent } from '../core/event.ts'
import { createId } from '../core/id.ts'
import type { JsonObject } from '../core/json.ts'
import type { Knowledge } from '../core/knowledge.ts'
import type { Logger } from '../core/logger.ts'
import type { Message } from '../core/message.ts'
import { textOf } from '../core/message.ts'
import type { RunRecord } from '../core/run.ts'
import { isEnded } from '../core/run.ts'
import type { Runnable } from '../core/runnable.ts'
import type { SessionSeed } from '../core/session.ts'
import type { ClaimRecord, RunStarted, SessionStore } from '../core/store.ts'
import type { Clock } from '../core/time.ts'
import { timestamp } from '../core/time.ts'
import { assertSameRequest, toClaim } from './idempotency.ts'
import { answerFromCache } from './response-cache.ts'
import { mayPass } from './run-end.ts'
import { RunExecution } from './run-execution.ts'
import type { Registry, RunHandle, Runs, StartRun } from './services.ts'
import { SessionLanes } from './session-lanes.ts'

const defaultHistoryRuns = 20
const historyLimit = 2000
const pageSize = 500
const retryBeginMs = 500

export interface RunsOptions {
  store: SessionStore
  registry: Registry
  knowledge?: Knowledge | undefined
  logger: Logger
  clock: Clock
  requestTimeoutMs: number
  /** Names this process in the store. */
  owner: string
}

/** The run service with what its server needs beyond the public door. */
export interface RunService extends Runs {
  /** Takes up what an earlier process left waiting, and what waited for its entity to be registered. */
  adopt(queued: readonly { run: RunRecord; fence: number }[]): void
  /** Ends everything that runs or waits in a session; resolves when that is recorded. */
  cancelSession(sessionId: string, reason: string): Promise<void>
  /** No new work; what runs gets until `deadlineMs`, then is cancelled with reason `shutdown`. Waiting background runs stay. */
  shutdown(deadlineMs: number): Promise<void>
  /** Resolves when what runs or waits now has ended. */
  settled(): Promise<void>
  /** Runs under way or waiting. */
  readonly active: number
}

export function createRuns(options: RunsOptions): RunService {
  const { store, registry, logger, clock } = options
  const live = new Map<string, RunExecution>()
  const beginning = new Set<RunExecution>()
  /** Waiting runs whose entity is not registered. */
  const stranded = new Map<string, { run: RunRecord; fence: number }>()
  let closing = false
  const lanes = new SessionLanes((execution) => void begin(execution))

  async function begin(execution: RunExecution): Promise<void> {
    if (execution.ended || closing) return
    beginning.add(execution)
    try {
      const begun = await store.beginRun(execution.run.run_id, execution.fence, timestamp(clock()))
      if (begun) execution.begin()
      else execution.cancel('session_deleted')
    } catch (error) {
      logger.error({ error, run_id: execution.run.run_id }, 'a waiting run could not begin')
      if (!execution.run.background || !mayPass(error)) return execution.fail(error)
      setTimeout(() => void begin(execution), retryBeginMs).unref()
    } finally {
      beginning.delete(execution)
    }
  }

  function onEnd(execution: RunExecution): void {
    live.delete(execution.run.run_id)
    lanes.leave(execution)
  }

  function createExecution(run: RunRecord, runnable: Runnable, mode: StartRun['mode']): RunExecution {
    const message = run.messages[0]
    const parts = message?.parts ?? []
    const limit = options.requestTimeoutMs
    const plainLimit = runnable.timeoutMs === undefined ? limit : Math.min(limit, runnable.timeoutMs)
    return new RunExecution({
      store,
      clock,
      logger,
      run,
      runnable:
        runnable.cache === undefined ? runnable : answerFromCache(runnable, runnable.cache, { ...options, run }),
      input: { parts, text: textOf(parts) },
      fence: 1,
      loadState: beginsEarly(runnable) ? undefined : () => readState(run.session_id),
      timeoutMs: mode === 'plain' ? plainLimit : runnable.timeoutMs,
      idleTimeoutMs: mode === 'stream' ? limit : undefined,
      context: {
        runId: run.run_id,
        sessionId: run.session_id,
        entityId: run.entity_id,
        userId: run.user_id,
        metadata: run.metadata ?? {},
        logger,
        knowledge: options.knowledge,
        history: (runs) => readHistory(run, runs ?? defaultHistoryRuns),
        summary: () => store.findSummary(run.session_id),
        entity: (id) => registry.get(id),
      },
      onEnd,
    })
  }

  // Runs that came later, waiting or given up, stand between this one and what came before it.
  async function readHistory(run: RunRecord, runs: number): Promise<Message[]> {
    if (runs <= 0) return []
    for (let limit = runs + Math.max(1, lanes.of(run.session_id).length); ; limit *= 2) {
      const history = await store.readHistory(run.session_id, limit)
      const place = history.runs.findIndex((other) => other.run_id === run.run_id)
      const earlier = place === -1 ? history.runs : history.runs.slice(0, place)
      const begun = earlier.filter((other) => other.status !== 'queued')
      if (begun.length >= runs || !history.has_more || limit > historyLimit) {
        return begun.slice(-runs).flatMap((other) => other.messages)
      }
    }
  }

  async function readState(sessionId: string): Promise<JsonObject> {
    return { ...(await store.findSession(sessionId))?.session.state }
  }

  async function start(request: StartRun): Promise<RunHandle> {
    assertOpen()
    const runnable = registry.get(request.entityId)
    const strategy = request.strategy ?? 'enqueue'
    const run = createRun(request, runnable)
    const seed =
      request.sessionId === undefined || request.unknownSession === 'create' ? createSeed(run, request) : null
    if (request.idempotency !== undefined && strategy !== 'enqueue') {
      const earlier = await store.findClaim(request.idempotency.key)
      if (earlier !== undefined) return replay(earlier, request)
      assertOpen()
    }
    lanes.assertRoom(run.session_id, strategy)
    const execution = createExecution(run, runnable, request.mode)
    const mayBegin = lanes.enter(execution, strategy)
    if (mayBegin) {
      run.status = 'running'
      run.started_at = run.created_at
    }
    live.set(run.run_id, execution)
    const message = run.messages[0] as Message
    const claim = request.idempotency === undefined ? null : toClaim(request.idempotency, clock())
    let started: RunStarted
    try {
      // The record is copied before the run can change it; the promise is awaited after a run without effects has begun.
      const starting = store.startRun({
        run: { ...run },
        message,
        session: seed,
        state: request.state ?? null,
        claim,
        owner: options.owner,
      })
      if (mayBegin && beginsEarly(runnable)) execution.begin()
      started = await starting
    } catch (error) {
      execution.discard(error)
      onEnd(execution)
      throw error
    }
    if (started.outcome === 'started' || started.outcome === 'queued') {
      execution.startIsDurable(started.fence)
      if (mayBegin && !beginsEarly(runnable)) execution.begin()
      else if (!mayBegin && !run.background) execution.startClock()
      return toHandle(execution, request)
    }
    const refusal = toRefusal(started, run)
    execution.discard(refusal)
    onEnd(execution)
    if (started.outcome === 'claimed') return replay(started.claim, request)
    throw refusal
  }

  function assertOpen(): void {
    if (closing) throw new AppError('unavailable', 'The server is shutting down.', { retryAfterSeconds: 1 })
  }

  function createRun(request: StartRun, runnable: Runnable): RunRecord {
    const now = clock()
    const createdAt = timestamp(now)
    const runId = createId('run', now)
    const message: Message = {
      message_id: request.messageId ?? createId('msg', now),
      run_id: runId,
      role: 'user',
      parts: request.parts,
      content: textOf(request.parts),
      created_at: createdAt,
    }
    return {
      run_id: runId,
      session_id: request.sessionId ?? createId('ses', now),
      entity_id: request.entityId,
      entity_kind: runnable.kind,
      status: 'queued',
      created_at: createdAt,
      started_at: null,
      completed_at: null,
      cancellation_reason: null,
      error: null,
      cache_hit: false,
      usage: null,
      user_id: request.userId ?? null,
      metadata: request.metadata ?? null,
      background: request.mode === 'background',
      timeout_ms: runnable.timeoutMs ?? null,
      truncated: false,
      end_seq: null,
      messages: [message],
      sources: [],
    }
  }

  function toHandle(execution: RunExecution, request: StartRun): RunHandle {
    const { run_id: runId, session_id: sessionId } = execution.run
    const followsClient = request.mode !== 'background' && request.onDisconnect !== 'continue'
    if (followsClient && request.signal !== undefined) {
      const leave = () => execution.cancel('client_disconnected')
      if (request.signal.aborted) leave()
      else request.signal.addEventListener('abort', leave, { once: true })
    }
    return {
      runId,
      sessionId,
      replayed: false,
      events: (after = 0) => execution.log.read(after),
      result: () => execution.done,
    }
  }

  async function replay(claim: ClaimRecord, request: StartRun): Promise<RunHandle> {
    assertSameRequest(claim, request.idempotency)
    const join = request.idempotency?.whileRunning === 'join'
    if (claim.run_id === null) throw new AppError('conflict', 'A request with this idempotency key is still at work.')
    const runId = claim.run_id
    const running = live.get(runId)
    if (running !== undefined) {
      if (join) return { ...toHandle(running, { ...request, signal: undefined }), replayed: true }
      throw new AppError('conflict', `The request with this idempotency key still runs as '${runId}'.`, { runId })
    }
    const run = await getRecorded(runId)
    if (run.status === 'interrupted' && !join) {
      const message = `The run that this key started ('${runId}') was interrupted by a restart; it is not run again.`
      throw new AppError('run_interrupted', message, { runId, sessionId: run.session_id })
    }
    return {
      runId,
      sessionId: run.session_id,
      replayed: true,
      events: (after = 0) => recordedEvents(runId, after),
      result: async () => run,
    }
  }

  async function getRecorded(runId: string): Promise<RunRecord> {
    const run = await store.findRun(runId)
    if (run === undefined) throw notFound('run', runId)
    return run
  }

  async function* recordedEvents(
    runId: string,
    after: number,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly RunEvent[]> {
    for (let next = after; !signal?.aborted; ) {
      const events = await store.readEvents(runId, next, pageSize)
      const last = events.at(-1)
      if (last === undefined) return
      yield events
      next = last.seq
    }
  }

  function takeUp(run: RunRecord, fence: number, runnable: Runnable): RunExecution {
    const execution = createExecution(run, runnable, 'background')
    execution.startIsDurable(fence)
    live.set(run.run_id, execution)
    stranded.delete(run.run_id)
    return execution
  }

  async function cancel(runId: string, reason = 'requested'): Promise<RunRecord> {
    const left = stranded.get(runId)
    const execution = left === undefined ? live.get(runId) : takeUp(left.run, left.fence, noRunnable)
    if (execution !== undefined && !execution.ended) {
      execution.cancel(reason)
      return execution.done
    }
    const run = execution === undefined ? await getRecorded(runId) : await execution.done
    throw new AppError('conflict', `The run has already ended: ${run.status}.`, { runId, sessionId: run.session_id })
  }

  return {
    start,
    cancel,
    async get(runId) {
      return live.get(runId)?.snapshot() ?? getRecorded(runId)
    },
    list: (filter, page) => store.listRuns(filter, page),
    async resume(runId) {
      const run = live.get(runId)?.run ?? (await getRecorded(runId))
      throw new AppError('conflict', `The run does not wait for anything: it is ${run.status}.`, { runId })
    },
    async events(runId, after, signal) {
      const execution = live.get(runId)
      if (execution !== undefined) return execution.log.read(after)
      const run = await getRecorded(runId)
      if (!isEnded(run.status) && !closing) logger.warn({ run_id: runId }, 'run is recorded as under way but not live')
      return recordedEvents(runId, after, signal)
    },
    adopt(queued) {
      for (const { run, fence } of [...stranded.values(), ...queued]) {
        const runnable = registry.find(run.entity_id)
        if (runnable === undefined) {
          if (stranded.has(run.run_id)) continue
          stranded.set(run.run_id, { run, fence })
          logger.warn(
            { run_id: run.run_id, entity_id: run.entity_id },
            'waiting run has no entity here; it stays queued',
          )
          continue
        }
        const execution = takeUp(run, fence, runnable)
        if (lanes.enter(execution, 'enqueue')) void begin(execution)
      }
    },
    async cancelSession(sessionId, reason) {
      const executions = lanes.of(sessionId)
      for (const execution of executions.toReversed()) execution.cancel(reason)
      await Promise.allSettled(executions.map((execution) => execution.done))
    },
    async shutdown(deadlineMs) {
      closing = true
      const all = [...live.values()]
      const waits = (execution: RunExecution) =>
        execution.run.status === 'queued' && !execution.ended && !beginning.has(execution)
      const staying = all.filter((execution) => execution.run.background && waits(execution))
      for (const execution of staying) execution.log.close(new AppError('unavailable', 'The server is shutting down.'))
      const going = all.filter((execution) => !staying.includes(execution))
      for (const execution of going) if (waits(execution)) execution.cancel('shutdown')
      const ended = Promise.allSettled(going.map((execution) => execution.done))
      const timer = setTimeout(() => {
        for (const execution of going) execution.cancel('shutdown')
      }, deadlineMs)
      await ended
      clearTimeout(timer)
    },
    async settled() {
      await Promise.allSettled([...live.values()].map((execution) => execution.done))
    },
    get active() {
      return live.size
    },
  }
}

/** Of a run that is cancelled without its entity. */
const noRunnable: Runnable = { kind: 'agent', tools: [], knowledge: false, effects: 'any', async *run() {} }

/** Whether it may begin before its start is durable; what looks into the store first may not. */
function beginsEarly(runnable: Runnable): boolean {
  return runnable.effects === 'none' && runnable.cache === undefined
}

function createSeed(run: RunRecord, request: StartRun): SessionSeed {
  return {
    session_id: run.session_id,
    agent_id: run.entity_kind === 'agent' ? run.entity_id : null,
    team_id: run.entity_kind === 'team' ? run.entity_id : null,
    workflow_id: run.entity_kind === 'workflow' ? run.entity_id : null,
    user_id: request.userId ?? null,
    name: null,
    metadata: null,
    state: null,
    created_at: run.created_at,
  }
}

function toRefusal(started: RunStarted, run: RunRecord): AppError {
  if (started.outcome === 'session_missing') return notFound('session', run.session_id)
  if (started.outcome === 'busy') {
    return new AppError('conflict', `Session '${run.session_id}' is already running something elsewhere.`)
  }
  return new AppError('conflict', 'A request with this idempotency key came before.')
}
