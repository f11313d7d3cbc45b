import { AppError, notFound } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import type { Logger } from '../../core/logger.ts'
import type { Message } from '../../core/message.ts'
import type { RunHead, RunRecord } from '../../core/run.ts'
import { isEnded, isResumable } from '../../core/run.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { ClaimRecord, Recovered, RunStarted, SessionStore } from '../../core/store.ts'
import type { Clock } from '../../core/time.ts'
import { timestamp } from '../../core/time.ts'
import { TurnoverMap } from '../../runtime/turnover-map.ts'
import { createRecordedRuns } from '../events/reader.ts'
import { assertSameRequest, toClaim } from '../idempotency.ts'
import { checkGiven, checkMerged } from '../limits/given.ts'
import type { RunBounds } from '../limits/run-budget.ts'
import { withPrompts } from '../prompts/expand.ts'
import { PromptReader } from '../prompts/reader.ts'
import { createTraces } from '../prompts/trace.ts'
import type { Registry, ResumeAnswer, RunHandle, Runs, StartRun } from '../services.ts'
import { createChildren } from './children.ts'
import { isRetryable } from './end.ts'
import type { RunExecution } from './execution.ts'
import { cancelWith, liveHandle, recordedHandle } from './handle.ts'
import { beginsEarly, prepareExecution } from './prepare.ts'
import { SessionQueue } from './queue.ts'
import { createRun, createSeed, toRefusal } from './request.ts'
import { cancelPaused, notWaiting, prepareResume } from './resume.ts'

const retryBeginMs = 500

/** A run that an earlier process left waiting. */
type Waiting = Recovered['queued'][number]

export interface RunsOptions {
  store: SessionStore
  registry: Registry
  knowledge?: Knowledge | undefined
  logger: Logger
  clock: Clock
  requestTimeoutMs: number
  bounds: RunBounds
  /** Names this process in the store. */
  owner: string
  /** Told of each run when its end, or its pause, is durable; in the way of everybody else's runs, so it must be brief. */
  onRunEnd?: ((run: RunRecord) => void) | undefined
}

/** The run service with what its server needs beyond the public door. */
export interface RunService extends Runs {
  /** Takes up what an earlier process left waiting, and what waited for its entity to be registered. */
  adopt(queued: readonly Waiting[]): void
  /** Ends everything that runs or waits in a session; resolves when that is recorded. */
  cancelSession(sessionId: string, reason: string): Promise<void>
  /** No new work; what runs gets until `deadlineMs`, then is cancelled with reason `shutdown`. Waiting background runs stay. */
  shutdown(deadlineMs: number): Promise<void>
  /** Resolves when what runs or waits now has ended. */
  idle(): Promise<void>
  /** Runs under way or waiting. */
  readonly active: number
  /** Their ids. */
  ids(): string[]
}

export function createRuns(options: RunsOptions): RunService {
  const { store, registry, logger, clock } = options
  const recorded = createRecordedRuns(store)
  const trace = createTraces(store, recorded)
  const live = new TurnoverMap<string, RunExecution>()
  const beginning = new Set<string>()
  /** Waiting runs whose entity is not registered. */
  const stranded = new Map<string, Waiting>()
  let closing = false
  const queues = new SessionQueue((execution) => void begin(execution))

  async function begin(execution: RunExecution): Promise<void> {
    if (execution.ended || closing) return
    beginning.add(execution.run.run_id)
    try {
      const begun = await store.beginRun(execution.run.run_id, execution.fence, timestamp(clock()))
      if (begun) execution.begin()
      else execution.cancel('session_deleted')
    } catch (error) {
      logger.error({ error, run_id: execution.run.run_id }, 'a queued run could not start')
      if (!execution.run.background || !isRetryable(error)) return execution.fail(error)
      setTimeout(() => void begin(execution), retryBeginMs).unref()
    } finally {
      beginning.delete(execution.run.run_id)
    }
  }

  function onEnd(execution: RunExecution): void {
    live.delete(execution.run.run_id)
    queues.leave(execution)
    if (isEnded(execution.run.status)) options.onRunEnd?.(execution.run)
  }

  function createExecution(
    run: RunRecord,
    runnable: Runnable,
    mode: StartRun['mode'],
    before?: readonly RunEvent[],
    unchecked?: boolean,
  ): RunExecution {
    const inQueue = () => queues.of(run.session_id).length
    return prepareExecution({
      ...options,
      recorded,
      run,
      runnable,
      mode,
      inQueue,
      startChild,
      onEnd,
      before,
      unchecked,
    })
  }

  const startChild = createChildren({ ...options, recorded, live })

  async function resume(runId: string, answer: ResumeAnswer): Promise<RunHandle> {
    assertOpen()
    const paused = await recorded.get(runId)
    const under = live.get(runId)
    if (under !== undefined) throw notWaiting(under.run)
    const { parent_run_id: parent, session_id: sessionId } = paused
    if (parent !== null && isResumable(paused)) {
      throw new AppError('conflict', `The run is a child of run '${parent}'. Resume that run instead.`, {
        runId,
        sessionId,
      })
    }
    const { run, before, resume } = await prepareResume(recorded, paused, answer, options.owner, clock())
    const runnable = registry.get(run.entity_id)
    assertOpen()
    if (live.has(runId)) throw notWaiting({ ...paused, status: 'running' })
    queues.assertRoom(sessionId, 'reject')
    const execution = createExecution(run, runnable, answer.mode, before)
    queues.enter(execution, 'reject')
    live.set(runId, execution)
    try {
      const resumed = await store.resumeRun(resume)
      if (resumed.outcome === 'missing') throw notFound('run', runId)
      if (resumed.outcome !== 'resumed')
        throw new AppError('conflict', "The run's state changed. Fetch it and try again.", { runId, sessionId })
      execution.startIsDurable(resumed.fence)
    } catch (error) {
      execution.discard(error)
      onEnd(execution)
      throw error
    }
    execution.begin()
    if (answer.mode !== 'background' && answer.onDisconnect !== 'continue') cancelWith(execution, answer.signal)
    return { ...liveHandle(execution), events: (after = execution.firstSeq - 1) => execution.log.read(after) }
  }

  async function start(request: StartRun): Promise<RunHandle> {
    assertOpen()
    const runnable = registry.get(request.entityId)
    checkGiven(request, options.bounds)
    if (request.state && request.sessionId !== undefined) {
      checkMerged(await recorded.state(request.sessionId), request.state, options.bounds)
      assertOpen()
    }
    const strategy = request.strategy ?? 'enqueue'
    const run = createRun({ ...request, background: request.mode === 'background' }, runnable, clock())
    const seed =
      request.sessionId === undefined || request.unknownSession === 'create' ? createSeed(run, request) : null
    if (request.idempotency !== undefined && strategy !== 'enqueue') {
      const earlier = await store.findClaim(request.idempotency.key)
      if (earlier !== undefined) return replay(earlier, request)
      assertOpen()
    }
    queues.assertRoom(run.session_id, strategy)
    const execution = createExecution(run, runnable, request.mode)
    const mayBegin = queues.enter(execution, strategy)
    if (mayBegin) {
      run.status = 'running'
      run.started_at = run.created_at
    }
    live.set(run.run_id, execution)
    const message = run.messages[0] as Message
    const claim = request.idempotency === undefined ? null : toClaim(request.idempotency, clock())
    let started: RunStarted
    try {
      // The record is copied before the run can change it; the promise is awaited after a run without side effects has begun.
      const starting = store.startRun({
        run: { ...run },
        message,
        session: seed,
        state: request.state ?? null,
        claim,
        owner: options.owner,
        unchecked: runnable.checksInput,
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
      if (request.mode !== 'background' && request.onDisconnect !== 'continue') cancelWith(execution, request.signal)
      return liveHandle(execution)
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

  async function replay(claim: ClaimRecord, request: StartRun): Promise<RunHandle> {
    assertSameRequest(claim, request.idempotency)
    const join = request.idempotency?.whileRunning === 'join'
    if (claim.run_id === null) {
      throw new AppError('conflict', 'A request with this idempotency key is still in progress. Retry later.', {
        retryAfterSeconds: 1,
      })
    }
    const runId = claim.run_id
    const running = live.get(runId)
    if (running !== undefined) {
      if (join) return { ...liveHandle(running), replayed: true }
      const message = `A request with this idempotency key is still in progress as run '${runId}'.`
      const sessionId = running.run.session_id
      throw new AppError('conflict', message, { runId, sessionId, retryAfterSeconds: 1 })
    }
    const run = await recorded.get(runId)
    if (run.status === 'interrupted' && !join) {
      const message = `The run that this idempotency key started ('${runId}') was interrupted by a restart. Use a new key to run it again.`
      throw new AppError('run_interrupted', message, { runId, sessionId: run.session_id })
    }
    return recordedHandle(run, recorded)
  }

  function takeUp({ run, fence, unchecked }: Waiting, runnable: Runnable): RunExecution {
    const execution = createExecution(run, runnable, 'background', undefined, unchecked)
    execution.startIsDurable(fence)
    live.set(run.run_id, execution)
    stranded.delete(run.run_id)
    return execution
  }

  async function cancel(runId: string, reason = 'requested'): Promise<RunRecord> {
    const left = stranded.get(runId)
    const execution = left === undefined ? live.get(runId) : takeUp(left, noRunnable)
    if (execution !== undefined && !execution.ended) {
      execution.cancel(reason)
      return execution.done
    }
    const run = execution === undefined ? await recorded.get(runId) : await execution.done
    if (isResumable(run)) return cancelPaused(store, run, reason, clock())
    throw new AppError('conflict', `The run has already ended: ${run.status}.`, { runId, sessionId: run.session_id })
  }

  async function head(runId: string): Promise<RunHead> {
    return live.get(runId)?.run ?? recorded.head(runId)
  }

  async function events(runId: string, after: number, signal?: AbortSignal) {
    const execution = live.get(runId)
    if (execution !== undefined) return execution.log.read(after)
    const run = await recorded.head(runId)
    if (!isEnded(run.status) && !closing)
      logger.warn({ run_id: runId }, 'a run is recorded as active but is not running')
    return recorded.events(run, after, signal)
  }

  return {
    start,
    cancel,
    async get(runId) {
      return live.get(runId)?.snapshot() ?? recorded.get(runId)
    },
    head,
    list: (filter, page) => store.listRuns(filter, page),
    resume,
    events,
    withPrompts: (runId, batches) =>
      withPrompts(
        batches,
        async () => new PromptReader(await head(runId), recorded),
        () => events(runId, 0),
      ),
    trace: async (runId, page) => trace(await head(runId), page),
    adopt(queued) {
      for (const left of [...stranded.values(), ...queued]) {
        const { run } = left
        const runnable = registry.find(run.entity_id)
        if (runnable === undefined) {
          if (stranded.has(run.run_id)) continue
          stranded.set(run.run_id, left)
          logger.warn(
            { run_id: run.run_id, entity_id: run.entity_id },
            'a queued run names an unknown entity; it stays queued',
          )
          continue
        }
        const execution = takeUp(left, runnable)
        if (queues.enter(execution, 'enqueue')) void begin(execution)
      }
    },
    async cancelSession(sessionId, reason) {
      const executions = queues.of(sessionId)
      for (const execution of executions.toReversed()) execution.cancel(reason)
      await Promise.allSettled(executions.map((execution) => execution.done))
    },
    async shutdown(deadlineMs) {
      closing = true
      const all = live.values()
      const waits = (execution: RunExecution) =>
        execution.run.status === 'queued' && !execution.ended && !beginning.has(execution.run.run_id)
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
    async idle() {
      await Promise.allSettled(live.values().map((execution) => execution.done))
    },
    ids: () => live.values().map(({ run }) => run.run_id),
    get active() {
      return live.size
    },
  }
}

/** Of a run that is cancelled without its entity. */
const noRunnable: Runnable = { kind: 'agent', tools: [], knowledge: false, sideEffects: true, async *run() {} }
