import { AppError, invalid, toAppError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { isEnded, isResumable, isTry, type RunHead, type RunRecord } from '../../core/run.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { Recovered } from '../../core/store.ts'
import { toWaiting } from '../../core/waiting.ts'
import { compileJsonSchema } from '../../schema/json-schema.ts'
import { createRecordedRuns } from '../events/reader.ts'
import { toClaim } from '../idempotency.ts'
import { checkClientTools } from '../limits/client-tools.ts'
import { checkCallersGiven, checkGiven, checkMerged } from '../limits/given.ts'
import { withPrompts } from '../prompts/expand.ts'
import { PromptReader } from '../prompts/reader.ts'
import { createTraces } from '../prompts/trace.ts'
import type { ResumeAnswer, RunHandle, Runs, StartRun } from '../services.ts'
import { cancelPaused } from './cancel.ts'
import { createChildren } from './children.ts'
import type { RunExecution } from './execution.ts'
import { checkInput, takeGiven } from './given.ts'
import { ownHandle } from './handle.ts'
import { LiveRuns } from './live.ts'
import { beginsEarly, type PreparedRun, prepareExecution } from './prepare.ts'
import { prepareReplacement, restoreTurn } from './replacing.ts'
import { createReplay, followAnswered } from './replay.ts'
import { alreadyReplaced, createRun, createSeed, toStart } from './request.ts'
import { notWaiting, prepareResume } from './resume.ts'
import type { RunServices } from './run-services.ts'
import { type StoredIds, type StoredStart, withStoredFiles } from './stored-start.ts'
import { startTry, type TryRequest } from './try.ts'

/** A queued run of an earlier process. */
type QueuedRun = Recovered['queued'][number]

export interface RunsOptions extends Omit<RunServices, 'recorded'> {
  /** Called once a run's end (or pause) is durable. Runs synchronously on the hot path: keep it fast. */
  onRunEnd?: ((run: RunRecord) => void) | undefined
  /** The session's conversation has lost turns, and no run is about to answer in their place. */
  onTurnsReplaced?: ((sessionId: string) => void) | undefined
}

/** The run service with what its server needs beyond `Runs`. */
export interface RunService extends Runs {
  /** Takes over the queued runs of an earlier process, and those whose entity has been registered meanwhile. */
  adopt(queued: readonly QueuedRun[]): void
  /** The newest run of the session that is queued or running, without child runs. */
  activeIn(sessionId: string): Promise<RunHead | undefined>
  /** Cancels all runs of a session; resolves when that is recorded. */
  cancelSession(sessionId: string, reason: string): Promise<void>
  /** Refuses new runs. Cancels (`shutdown`) what has not ended after `deadlineMs`. Queued background runs stay queued. */
  shutdown(deadlineMs: number): Promise<void>
  /** Resolves when the runs that are live now have ended. */
  idle(): Promise<void>
  /** Starts a run that only tries another one again, beside the session's queue. */
  startTry(request: TryRequest): Promise<RunHandle>
  /** Number of live runs, queued ones included. */
  readonly active: number
  /** Their ids. */
  ids(): string[]
}

export function createRuns({ onRunEnd, onTurnsReplaced, ...options }: RunsOptions): RunService {
  const { store, registry, logger, clock, bounds, owner } = options
  const recorded = createRecordedRuns(store)
  const services: RunServices = { ...options, recorded }
  const live = new LiveRuns(services, onRunEnd)
  const children = createChildren(services, live)
  const trace = createTraces(store, recorded)
  const replay = createReplay(live, recorded)
  /** Queued runs whose entity is not registered. */
  const stranded = new Map<string, QueuedRun>()

  function prepare(prepared: Omit<PreparedRun, 'live' | 'children'>): RunExecution {
    return prepareExecution(services, { ...prepared, live, children })
  }

  async function resume(runId: string, answer: ResumeAnswer): Promise<RunHandle> {
    live.assertOpen()
    const paused = await recorded.get(runId)
    const present = live.get(runId)
    const { parent_run_id: parent, session_id: sessionId } = paused
    const isWaiting = present === undefined && isResumable(paused)
    if (parent !== null && isWaiting) {
      throw new AppError('conflict', `The run is a child of run '${parent}'. Resume that run instead.`, {
        runId,
        sessionId,
      })
    }
    if (isWaiting && paused.replaced_by !== null) {
      throw alreadyReplaced(runId, { runId: paused.replaced_by, sessionId })
    }
    if (!isWaiting) {
      const followed = parent === null ? await followAnswered({ live, recorded }, runId, answer) : undefined
      if (followed === undefined) throw notWaiting(present?.run ?? paused)
      return followed
    }
    try {
      const { run, before, resume } = await prepareResume(services, paused, answer)
      const runnable = registry.get(run.entity_id)
      live.assertOpen()
      if (live.get(runId) !== undefined) throw notWaiting({ ...paused, status: 'running' })
      const isApart = isTry(run)
      if (!isApart) live.queues.assertRoom(sessionId, 'reject')
      const execution = prepare({ run, runnable, mode: answer.mode, before })
      if (!isApart) live.queues.enter(execution, 'reject')
      await live.admit(execution, () => store.resumeRun(resume), 'durable')
      return ownHandle(execution, answer)
    } catch (error) {
      const { code } = toAppError(error)
      // The same answer came twice at the same time, or names what an earlier pause waited for.
      const isSame = code === 'conflict' || (code === 'invalid_request' && answer.answers !== undefined)
      const endSeq = code === 'conflict' ? paused.end_seq : undefined
      const followed = isSame ? await followAnswered({ live, recorded }, runId, answer, endSeq) : undefined
      if (followed === undefined) throw error
      return followed
    }
  }

  const check = ({ entityId }: StartRun) => {
    live.assertOpen()
    registry.get(entityId)
  }
  const start = withStoredFiles(services, check, startStored)

  async function startStored(request: StoredStart, ids?: StoredIds): Promise<RunHandle> {
    live.assertOpen()
    const runnable = registry.get(request.entityId)
    const { sessionId, state = null, strategy = 'enqueue', replaces, idempotency, mode, repeats } = request
    checkGiven(request, bounds)
    if (request.given !== undefined) checkCallersGiven(request.given, bounds)
    const { given, ignored } = takeGiven(request, runnable, options.clientInstructions)
    const tools = request.given?.client_tools ?? []
    if (tools.length > 0) await checkClientTools(tools, runnable, request.entityId, bounds)
    if (state !== null && sessionId !== undefined) checkMerged((await recorded.basis(sessionId)).state, state, bounds)
    if (idempotency !== undefined && (strategy !== 'enqueue' || replaces !== undefined)) {
      const earlier = await store.findClaim(idempotency.key)
      if (earlier !== undefined) return replay(earlier, request, ignored)
    }
    if (runnable.checkInput !== undefined) await checkInput(services, runnable, request)
    if (given?.output_schema !== undefined) await compileJsonSchema(given.output_schema, 'output_schema')
    if (replaces !== undefined) {
      if (sessionId === undefined) throw invalid('replaces needs the session_id of that run.', 'session_id')
      live.queues.assertRoom(sessionId, strategy)
      const earlier = await prepareReplacement(services, sessionId, replaces, idempotency?.key)
      if (earlier !== undefined) return replay(earlier, request, ignored)
    }
    live.assertOpen()
    const run = createRun(
      {
        ...request,
        given,
        ...(ids && { runId: ids.run_id, sessionId: ids.session_id }),
        background: mode === 'background',
      },
      runnable,
      clock(),
    )
    live.queues.assertRoom(run.session_id, strategy)
    const execution = prepare({ run, runnable, mode, replaces, repeats, isFirst: sessionId === undefined })
    const others = replaces !== undefined && strategy === 'interrupt' ? live.queues.of(run.session_id) : []
    // A replaced run ends only after the mark is durable: otherwise its own end could bring back what it had replaced.
    const isFirst = live.queues.enter(execution, replaces === undefined ? strategy : 'enqueue')
    if (isFirst) {
      run.status = 'running'
      run.started_at = run.created_at
    }
    const session = sessionId === undefined || request.unknownSession === 'create' ? createSeed(run, request) : null
    const claim = idempotency === undefined ? null : toClaim(idempotency, clock())
    let superseded: readonly string[] = []
    const commit = () => store.startRun(toStart(run, runnable, owner, { session, state, claim, replaces }))
    const replace = async () => {
      const started = await commit()
      if ('superseded' in started) superseded = started.superseded ?? []
      return started
    }
    const earlier = await live.admit(
      execution,
      replaces === undefined ? commit : replace,
      !isFirst
        ? 'queued'
        : beginsEarly(runnable, request) && replaces === undefined && repeats === undefined
          ? 'early'
          : 'durable',
    )
    if (replaces !== undefined && earlier === undefined) {
      for (const runId of superseded) supersede(runId)
      for (const other of others) other.cancel('superseded')
      execution.done.then(
        () => onTurnsReplaced?.(run.session_id),
        () => {},
      )
    }
    return earlier === undefined ? { ...ownHandle(execution, request), ignored } : replay(earlier, request, ignored)
  }

  function supersede(runId: string): void {
    const left = stranded.get(runId)
    const execution = left === undefined ? live.get(runId) : takeUp(left, noRunnable)
    execution?.cancel('superseded')
  }

  async function activeIn(sessionId: string): Promise<RunHead | undefined> {
    const executions = live.queues.of(sessionId)
    const waiting = [...stranded.values()].findLast(({ run }) => run.session_id === sessionId)
    return executions.findLast(({ ended }) => !ended)?.run ?? waiting?.run
  }

  function takeUp({ run, fence, unchecked }: QueuedRun, runnable: Runnable): RunExecution {
    stranded.delete(run.run_id)
    const execution = prepare({ run, runnable, mode: 'background', unchecked, isAdopted: true })
    void live.admit(execution, () => ({ fence }), 'queued')
    return execution
  }

  function adopt(queued: QueuedRun): void {
    const { run_id: runId, entity_id: entityId } = queued.run
    const runnable = registry.find(entityId)
    if (runnable !== undefined) live.enqueue(takeUp(queued, runnable))
    else if (!stranded.has(runId)) {
      stranded.set(runId, queued)
      logger.warn({ run_id: runId, entity_id: entityId }, 'a queued run names an unknown entity; it stays queued')
    }
  }

  async function get(runId: string): Promise<RunRecord> {
    const execution = live.get(runId)
    if (execution !== undefined) return execution.snapshot()
    const run = await recorded.get(runId)
    // Earlier versions recorded it in the events only.
    if (run.status !== 'input_required' || run.waiting.length > 0) return run
    return { ...run, waiting: toWaiting(await recorded.requests(runId)) }
  }

  async function cancel(runId: string, reason = 'requested'): Promise<RunRecord> {
    const left = stranded.get(runId)
    const execution = left === undefined ? live.get(runId) : takeUp(left, noRunnable)
    if (execution !== undefined && !execution.ended) {
      execution.cancel(reason)
      return execution.done
    }
    const run = execution === undefined ? await recorded.get(runId) : await execution.done
    if (isResumable(run)) return cancelPaused(services, run, reason)
    throw new AppError('conflict', `The run has already ended: ${run.status}.`, { runId, sessionId: run.session_id })
  }

  async function head(runId: string): Promise<RunHead> {
    return live.get(runId)?.run ?? recorded.head(runId)
  }

  async function events(
    runId: string,
    after: number,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<readonly RunEvent[]>> {
    const execution = live.get(runId)
    if (execution !== undefined) return execution.log.read(after)
    const run = await recorded.head(runId)
    if (!isEnded(run.status) && !live.closing)
      logger.warn({ run_id: runId }, 'a run is recorded as active but is not running')
    return recorded.events(run, after, signal)
  }

  return {
    start,
    resume,
    async restore(runId) {
      live.assertOpen()
      const run = await restoreTurn(services, live.queues, await head(runId))
      onTurnsReplaced?.(run.session_id)
      return run
    },
    cancel,
    activeIn,
    get,
    head,
    list: (filter, page) => store.listRuns(filter, page),
    events,
    withPrompts: (runId, batches) =>
      withPrompts(
        batches,
        async () => new PromptReader(await head(runId), recorded),
        () => events(runId, 0),
      ),
    trace: async (runId, page) => trace(await head(runId), page),
    adopt(queued) {
      for (const one of [...stranded.values(), ...queued]) adopt(one)
    },
    cancelSession: (sessionId, reason) => live.cancelSession(sessionId, reason),
    shutdown: (deadlineMs) => live.shutdown(deadlineMs),
    idle: () => live.idle(),
    startTry: (request) => startTry(services, { live, children }, request),
    ids: () => live.ids(),
    get active() {
      return live.size
    },
  }
}

/** Stands for the missing entity of a run that is cancelled. */
const noRunnable: Runnable = { kind: 'agent', tools: [], knowledge: false, sideEffects: true, async *run() {} }
