import { AppError, toAppError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { isEnded, isResumable, isTry, type RunHead, type RunRecord } from '../../core/run.ts'
import { toWaiting } from '../../core/waiting.ts'
import { createRecordedRuns } from '../events/reader.ts'
import type { RunExecution } from '../execution/execution.ts'
import type { PeerRuns } from '../peers/peers.ts'
import { withPrompts } from '../prompts/expand.ts'
import { PromptReader } from '../prompts/reader.ts'
import { createTraces } from '../prompts/trace.ts'
import type { ResumeAnswer, RunHandle, Runs } from '../services.ts'
import { Adoption, type QueuedRun } from './adoption.ts'
import { cancelPaused } from './cancel.ts'
import { createChildren } from './children.ts'
import { RunsElsewhere } from './elsewhere.ts'
import { ownHandle } from './handle.ts'
import { LiveRuns } from './live.ts'
import { type PreparedRun, prepareExecution } from './prepare.ts'
import { keepTry, restoreTurn } from './replacing.ts'
import { createReplay, followAnswered } from './replay.ts'
import { alreadyReplaced } from './request.ts'
import { notWaiting, prepareResume } from './resume.ts'
import type { RunServices } from './run-services.ts'
import { createStart } from './start.ts'
import { startTry, type TryRequest } from './try.ts'

export interface RunsOptions extends Omit<RunServices, 'recorded'> {
  /** Called once a run's end (or pause) is durable. Runs synchronously on the hot path: keep it fast. */
  onRunEnd?: ((run: RunRecord) => void) | undefined
  /** The session's conversation has lost turns, and no run is about to answer in their place. */
  onTurnsReplaced?: ((sessionId: string) => void) | undefined
}

/** The run service with what its server needs beyond `Runs`. */
export interface RunService extends Runs, PeerRuns {
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
  /** Makes an ended try a turn in place of this one. Throws `conflict` when that can't be (any more). */
  keepTry(runId: string, turn: string): Promise<void>
  /** The turn of which the run is a part; of a try, the turn that it tries again. Throws `run_not_found`. */
  turnOf(run: RunRecord): Promise<string>
  /** Number of live runs, queued ones included. */
  readonly active: number
  /** Their ids. */
  ids(): string[]
}

export function createRuns({ onRunEnd, onTurnsReplaced, ...options }: RunsOptions): RunService {
  const { store, registry, logger } = options
  const recorded = createRecordedRuns(store)
  const services: RunServices = { ...options, recorded }
  const live = new LiveRuns(services, onRunEnd)
  const children = createChildren(services, live)
  const trace = createTraces(store, recorded)
  const elsewhere = new RunsElsewhere(services, live)
  const adoption = new Adoption({ live, registry, logger, prepare })
  const replay = createReplay(live, recorded, elsewhere)

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
      const followed = parent === null ? await followAnswered({ live, recorded, elsewhere }, runId, answer) : undefined
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
      const followed = isSame ? await followAnswered({ live, recorded, elsewhere }, runId, answer, endSeq) : undefined
      if (followed === undefined) throw error
      return followed
    }
  }

  const start = createStart(services, { live, adoption, elsewhere, prepare, replay, onTurnsReplaced })

  async function activeIn(sessionId: string): Promise<RunHead | undefined> {
    const newest = await elsewhere.newestOf(sessionId)
    if (newest !== undefined) return newest
    const executions = live.queues.of(sessionId)
    const active = executions.findLast(({ ended }) => !ended)?.run ?? adoption.newestOf(sessionId)
    // While an end is being recorded, the record still says that the run is active: its readers need its log.
    return active ?? executions.at(-1)?.run
  }

  /**
   * What this instance may still say of its own run: while it is held, another one may have the run, or have deleted it; the latter
   * also while the answer to its end is awaited, since the others may know the end already.
   */
  function ownRun(runId: string): RunExecution | undefined {
    const { peers } = services
    if (peers === undefined) return live.get(runId)
    const execution = peers.isHeld ? undefined : live.get(runId)
    return execution?.ended === true ? undefined : execution
  }

  async function get(runId: string): Promise<RunRecord> {
    const execution = ownRun(runId)
    if (execution !== undefined) return execution.snapshot()
    const run = await recorded.get(runId)
    if (run.status === 'running') return elsewhere.snapshot(run)
    // Earlier versions recorded it in the events only.
    if (run.status !== 'input_required' || run.waiting.length > 0) return run
    return { ...run, waiting: toWaiting(await recorded.requests(runId)) }
  }

  async function cancel(runId: string, reason = 'requested'): Promise<RunRecord> {
    const execution = adoption.find(runId)
    if (execution !== undefined && !execution.ended) {
      execution.cancel(reason)
      return execution.done
    }
    let run = execution === undefined ? await recorded.get(runId) : await execution.done
    if (elsewhere.of(run) !== undefined) {
      const ended = await elsewhere.cancel(run, reason)
      if (ended !== undefined) return ended
      run = await recorded.get(runId)
    }
    if (isResumable(run)) return cancelPaused(services, run, reason)
    throw new AppError('conflict', `The run has already ended: ${run.status}.`, { runId, sessionId: run.session_id })
  }

  async function head(runId: string): Promise<RunHead> {
    return ownRun(runId)?.run ?? recorded.head(runId)
  }

  async function events(
    runId: string,
    after: number,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<readonly RunEvent[]>> {
    const execution = live.get(runId)
    const isCertain = services.peers === undefined || execution?.ended === false
    if (execution !== undefined && isCertain) return execution.log.read(after)
    // Throws when it has been deleted.
    const run = await recorded.head(runId)
    if (execution !== undefined) return execution.log.read(after)
    const peers = elsewhere.of(run)
    if (peers !== undefined) return peers.events(run, after, signal)
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
    recordedEvents: async (runId, signal) => recorded.events(await head(runId), 0, signal),
    withPrompts: (runId, batches) =>
      withPrompts(
        batches,
        async () => new PromptReader(await head(runId), recorded),
        () => events(runId, 0),
      ),
    async trace(runId, page) {
      // A call that a stream has told is found.
      await live.get(runId)?.settle()
      return trace(await head(runId), page)
    },
    adopt: (queued) => adoption.adopt(queued),
    cancelHere(runId, reason) {
      const execution = adoption.find(runId)
      execution?.cancel(reason)
      return execution !== undefined
    },
    takeTurn: (runId) => live.takeTurn(runId),
    abandon() {
      adoption.abandon()
      live.abandon()
    },
    release: () => live.release(),
    flushWithin: (runId, ms) => live.get(runId)?.flushWithin(ms),
    eventsHere: (runId, after) => live.get(runId)?.log.read(after),
    async cancelSession(sessionId, reason) {
      await Promise.all([live.cancelSession(sessionId, reason), elsewhere.cancelSession(sessionId, reason)])
    },
    shutdown: (deadlineMs) => live.shutdown(deadlineMs),
    idle: () => live.idle(),
    turnOf: (run) => recorded.turnOf(run),
    async keepTry(runId, turn) {
      live.assertOpen()
      const { session_id: sessionId } = await head(runId)
      await keepTry(services, live.queues, { runId, sessionId, turn })
      onTurnsReplaced?.(sessionId)
    },
    startTry: (request) => startTry(services, { live, children }, request),
    ids: () => live.ids(),
    get active() {
      return live.size
    },
  }
}
