import type { Again } from '../../core/again/again.ts'
import type { RunEvent } from '../../core/event.ts'
import { freeze, type JsonObject } from '../../core/json.ts'
import { textOf } from '../../core/message.ts'
import { isTry, type RunRecord } from '../../core/run.ts'
import { defaultHistoryRuns, type MemberAnswer, type Resumption, type Runnable } from '../../core/runnable.ts'
import type { Summary } from '../../core/summary.ts'
import { RunExecution } from '../execution/execution.ts'
import type { Children } from '../execution/options.ts'
import type { StateSource } from '../execution/state.ts'
import { userMemory } from '../execution/user-memory.ts'
import { bringsFiles } from '../files/input.ts'
import { RunFiles } from '../files/run-files.ts'
import type { RunTimes } from '../limits/run-timers.ts'
import { workedMs } from '../limits/worked-time.ts'
import { PromptLog } from '../prompts/log.ts'
import { PromptReader } from '../prompts/reader.ts'
import { againOf, type Repeats, repeatedPart, repeatedState } from '../repeating/context.ts'
import { gated } from '../repeating/gated.ts'
import { readRecord as readRecordOf } from '../repeating/record.ts'
import { repeating } from '../repeating/runnable.ts'
import type { StartRun } from '../services.ts'
import { leaveNothingInside } from './cancel.ts'
import { newestTurns, sharedGiven, toldMessages, workedWith } from './given.ts'
import type { LiveRuns } from './live.ts'
import { patiently } from './patience.ts'
import { placeOf } from './place.ts'
import { answerFromCache } from './response-cache.ts'
import { unsavedState } from './resume.ts'
import type { RunServices } from './run-services.ts'

const noAnswers: readonly MemberAnswer[] = Object.freeze([])

/** A run to execute. */
export interface PreparedRun {
  run: RunRecord
  runnable: Runnable
  mode: StartRun['mode']
  live: LiveRuns
  children: Children
  /** A resumed run: all its recorded events, the new `run_resumed` included. */
  before?: readonly RunEvent[] | undefined
  /** The turn whose place it takes. */
  replaces?: string | undefined
  /** Queued by an earlier process. */
  isAdopted?: boolean | undefined
  /** Its start creates its session. */
  isFirst?: boolean | undefined
  /** Its input was recorded as unchecked. */
  unchecked?: boolean | undefined
  /** It repeats another run. */
  repeats?: Repeats | undefined
  /** A child run: the run that contains it, the state that both share, and the answers of earlier members of its team. */
  inside?: { parent: RunExecution; state: JsonObject; answers?: readonly MemberAnswer[] | undefined } | undefined
}

/** The execution of a run with its limits, its cache and its context. */
export function prepareExecution(services: RunServices, prepared: PreparedRun): RunExecution {
  const { store, recorded, registry, knowledge, logger, bounds } = services
  const { run, runnable, live, children, before, inside } = prepared
  const parts = run.messages[0]?.parts ?? []
  const own = run.given === null ? undefined : workedWith(run.given)
  const given = inside === undefined ? own : sharedGiven(inside.parent.options.context.given)
  const told = given?.history && toldMessages(run, given.history)
  const again = againOf(run, prepared.repeats, inside?.parent.options.context.again)
  const earlierRuns =
    inside?.parent.options.earlierRuns ??
    (isTry(run)
      ? triedBefore(services, run)
      : (count: number) => recorded.runsBefore(run, count, live.queues.of(run.session_id).length, execution.isDurable))
  const prompts = new PromptLog(before && { events: before, reader: () => new PromptReader(run, recorded) })
  const patient = services.peers && (<T>(use: () => Promise<T>) => patiently(services, execution.signal, use))
  const files = new RunFiles(store, services.bounds, run, patient)
  const execution = new RunExecution(services, {
    run,
    entity: runnable,
    runnable: again === undefined ? answering(services, prepared) : repeatingRunnable(services, prepared, again),
    input: { parts, text: textOf(parts) },
    times: timesOf(services, prepared),
    before,
    earlierRuns,
    prompts,
    files,
    children,
    parent: inside?.parent,
    replaces: prepared.replaces,
    isAdopted: prepared.isAdopted,
    readUser: userSource(services, prepared),
    unchecked:
      before === undefined &&
      prepared.repeats?.plan === undefined &&
      (prepared.unchecked === true || runnable.checksInput === true),
    state: stateSource(services, prepared),
    context: {
      runId: run.run_id,
      sessionId: run.session_id,
      entityId: run.entity_id,
      metadata: run.metadata ?? {},
      given,
      instructions: given?.instructions,
      files,
      logger,
      knowledge,
      userMemory: userMemory(services, run, (use) => patiently(services, execution.signal, use)),
      answers: inside?.answers ?? noAnswers,
      resumed: before === undefined ? behind(prepared) : toResumption(before),
      again,
      async history(count = defaultHistoryRuns) {
        if (told !== undefined) return newestTurns(told, count)
        const earlier = await patiently(services, execution.signal, () => earlierRuns(count))
        prompts.sawRuns(earlier)
        return earlier.flatMap(({ messages }) => messages.map(freeze))
      },
      // The summary is of the history that the caller's replaces.
      summary: async () =>
        told === undefined ? patiently(services, execution.signal, () => summaryFor(services, run)) : undefined,
      entity: registry.current(),
      maxAsks: bounds.run.asks,
    },
    onEnd: live.leave,
  })
  if (before !== undefined) endWhatWaits(services, execution, before)
  const { tracing } = services
  if (tracing !== undefined) execution.options.context.traceparent = tracing.traceparent(run, placeOf(execution))
  return execution
}

function answering(services: RunServices, { run, runnable, before }: PreparedRun): Runnable {
  const { cache } = runnable
  return cache === undefined || before !== undefined ? runnable : answerFromCache(runnable, cache, services, run)
}

/** A run that repeats another neither uses nor fills the response cache. */
function repeatingRunnable(
  services: RunServices,
  { run, runnable, repeats, inside }: PreparedRun,
  again: Again,
): Runnable {
  const { store, recorded } = services
  const of = run.again_of?.run_id
  const isRead = again.after === 'recorded' && of !== undefined
  const readRecord = isRead ? () => readRecordOf(store, recorded, of) : undefined
  const entity = inside === undefined ? runnable : gated(runnable, run.entity_id, again)
  return repeating(entity, { again, plan: repeats?.plan, readRecord })
}

function behind({ run, repeats }: PreparedRun): Resumption | undefined {
  return repeats?.plan && repeatedPart(run, repeats.plan)
}

/** A try sees what the turn saw that it tries again. */
function triedBefore({ recorded }: RunServices, run: RunRecord) {
  return async (count: number) => recorded.recordedBefore(await recorded.turnOf(run), run.session_id, count)
}

/** A later summary covers the turn that a try tries again. */
async function summaryFor({ store, recorded }: RunServices, run: RunRecord): Promise<Summary | undefined> {
  const summary = await store.findSummary(run.session_id, run.run_id)
  if (summary === undefined || !isTry(run)) return summary
  const turn = await recorded.head(await recorded.turnOf(run))
  return summary.created_at < turn.created_at ? summary : undefined
}

/** The code of a resumed run may end without what it waited for. A function of its own: closures keep what is beside them. */
function endWhatWaits(services: RunServices, execution: RunExecution, before: readonly RunEvent[]): void {
  if (!before.some((event) => 'child_run_id' in event)) return
  execution.done.then(
    (ended) => leaveNothingInside(services, ended, execution.reason ?? 'parent_ended'),
    () => {},
  )
}

function timesOf({ requestTimeoutMs, bounds }: RunServices, prepared: PreparedRun): RunTimes {
  const { run, runnable, mode, before = [], inside } = prepared
  const { timeoutMs } = runnable
  const plainMs = timeoutMs === undefined ? requestTimeoutMs : Math.min(requestTimeoutMs, timeoutMs)
  // A resumed run that has used up its time gets 1 ms, so that it ends like any other.
  const workMs = () => Math.max(1, bounds.run.timeMs - workedMs(before, run.started_at))
  return {
    timeoutMs: mode === 'plain' ? plainMs : timeoutMs,
    idleTimeoutMs: mode === 'stream' ? requestTimeoutMs : undefined,
    workMs: mode === 'background' && inside === undefined ? workMs() : undefined,
  }
}

function stateSource(services: RunServices, prepared: PreparedRun): StateSource | undefined {
  const { store, recorded } = services
  const { run, runnable, before, inside } = prepared
  if (inside !== undefined) return { shared: inside.state }
  if (beginsEarly(runnable)) return undefined
  const read = async () => {
    const { state, userId } = await recorded.basis(run.session_id, run.run_id)
    run.user_id ??= userId
    return isTry(run) ? { ...(await store.findStateBefore(await recorded.turnOf(run))) } : state
  }
  return {
    read: (signal) => patiently(services, signal, read),
    unsaved: before === undefined ? repeatedState(prepared.repeats?.plan?.repeated) : unsavedState(run, before),
  }
}

/** A run that begins before its start is durable reads the user of an existing session by itself. */
function userSource(services: RunServices, { run, runnable, inside, isFirst }: PreparedRun) {
  if (run.user_id !== null || isFirst === true || inside !== undefined || !beginsEarly(runnable)) return undefined
  return async (signal: AbortSignal) => {
    run.user_id ??= (
      await patiently(services, signal, () => services.recorded.basis(run.session_id, run.run_id))
    ).userId
  }
}

function toResumption(events: readonly RunEvent[]): Resumption | undefined {
  const last = events.at(-1)
  return last?.type === 'run_resumed'
    ? { events, approved: last.approved, input: last.input, answers: last.answers }
    : undefined
}

/** Whether a run may begin before its start is durable. A run that first reads the store may not. */
export function beginsEarly(runnable: Runnable, request?: Parameters<typeof bringsFiles>[0]): boolean {
  return !runnable.sideEffects && runnable.cache === undefined && !(request !== undefined && bringsFiles(request))
}
