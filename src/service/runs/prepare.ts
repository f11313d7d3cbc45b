import type { RunEvent } from '../../core/event.ts'
import { freeze, type JsonObject } from '../../core/json.ts'
import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import type { Logger } from '../../core/logger.ts'
import { textOf } from '../../core/message.ts'
import type { RunRecord } from '../../core/run.ts'
import type { MemberAnswer, Resumption, Runnable } from '../../core/runnable.ts'
import type { SessionStore } from '../../core/store.ts'
import type { Clock } from '../../core/time.ts'
import type { RecordedRuns } from '../events/reader.ts'
import type { RunBounds } from '../limits/run-budget.ts'
import { workedMs } from '../limits/worked-time.ts'
import { PromptLog } from '../prompts/log.ts'
import { PromptReader } from '../prompts/reader.ts'
import type { Registry, StartRun } from '../services.ts'
import { RunExecution } from './execution.ts'
import type { StartChild } from './options.ts'
import { answerFromCache } from './response-cache.ts'
import { unsavedState } from './resume.ts'
import type { StateSource } from './state.ts'

const defaultHistoryRuns = 20
const noAnswers: readonly MemberAnswer[] = Object.freeze([])

export interface Surroundings {
  store: SessionStore
  recorded: RecordedRuns
  registry: Registry
  knowledge?: Knowledge | undefined
  logger: Logger
  clock: Clock
  requestTimeoutMs: number
  bounds: RunBounds
  run: RunRecord
  runnable: Runnable
  mode: StartRun['mode']
  /** How many runs stand in its session's queue now. */
  inQueue: () => number
  startChild: StartChild
  onEnd: (execution: RunExecution) => void
  /** What was recorded before the pause after which the run goes on. */
  before?: readonly RunEvent[] | undefined
  /** Its input was recorded as unchecked. */
  unchecked?: boolean | undefined
  /** The run that this one is part of, and its state. */
  inside?: { parent: RunExecution; state: JsonObject; answers?: readonly MemberAnswer[] | undefined } | undefined
}

/** The execution of a run with its limits, its cache and all that its context gives. */
export function prepareExecution(surroundings: Surroundings): RunExecution {
  const { store, recorded, registry, knowledge, logger, clock, run, runnable, mode, inQueue } = surroundings
  const { startChild, onEnd, before, inside, bounds } = surroundings
  const parts = run.messages[0]?.parts ?? []
  const limit = surroundings.requestTimeoutMs
  const turns = inside?.parent.turns ?? ((runs: number) => recorded.latestTurns(run, runs, inQueue()))
  const prompts = new PromptLog(before && { events: before, reader: () => new PromptReader(run, recorded) })
  const plainLimit = runnable.timeoutMs === undefined ? limit : Math.min(limit, runnable.timeoutMs)
  return new RunExecution({
    store,
    clock,
    logger,
    run,
    runnable:
      runnable.cache === undefined || before !== undefined
        ? runnable
        : answerFromCache(runnable, runnable.cache, { store, clock, logger, run }),
    input: { parts, text: textOf(parts) },
    fence: 1,
    before,
    turns,
    prompts,
    startChild,
    parent: inside?.parent,
    unchecked: before === undefined && (surroundings.unchecked === true || runnable.checksInput === true),
    state:
      inside !== undefined ? { shared: inside.state } : beginsEarly(runnable) ? undefined : sessionState(surroundings),
    timeoutMs: mode === 'plain' ? plainLimit : runnable.timeoutMs,
    idleTimeoutMs: mode === 'stream' ? limit : undefined,
    workMs: mode === 'background' && inside === undefined ? timeToWork(surroundings) : undefined,
    bounds,
    context: {
      runId: run.run_id,
      sessionId: run.session_id,
      entityId: run.entity_id,
      userId: run.user_id,
      metadata: run.metadata ?? {},
      logger,
      knowledge,
      resumed: before && toResumption(before),
      async history(runs = defaultHistoryRuns) {
        const told = await turns(runs)
        prompts.sawTurns(told)
        return told.flatMap(({ messages }) => messages.map(freeze))
      },
      summary: () => store.findSummary(run.session_id),
      answers: inside?.answers ?? noAnswers,
      entity: registry.current(),
    },
    onEnd,
  })
}

/** A run that has worked for longer already is given a moment, so that it ends in the way of every other. */
function timeToWork({ bounds, before, run }: Surroundings): number {
  return Math.max(1, bounds.run.timeMs - workedMs(before ?? [], run.started_at))
}

function sessionState({ recorded, run, before }: Surroundings): StateSource {
  return { read: () => recorded.state(run.session_id), unsaved: before && unsavedState(before) }
}

function toResumption(events: readonly RunEvent[]): Resumption | undefined {
  const last = events.at(-1)
  return last?.type === 'run_resumed' ? { events, approved: last.approved, input: last.input } : undefined
}

/** Whether it may begin before its start is durable; what looks into the store first may not. */
export function beginsEarly(runnable: Runnable): boolean {
  return !runnable.sideEffects && runnable.cache === undefined
}
