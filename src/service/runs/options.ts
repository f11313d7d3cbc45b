import type { RunEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Logger } from '../../core/logger.ts'
import type { CancellationReason, RunError, RunRecord, RunStatus } from '../../core/run.ts'
import type { ChildRun, RunContext, RunInput, Runnable } from '../../core/runnable.ts'
import type { SessionStore } from '../../core/store.ts'
import type { Clock } from '../../core/time.ts'
import type { RunBounds } from '../limits/run-budget.ts'
import type { RunTimes } from '../limits/run-timers.ts'
import type { PromptLog } from '../prompts/log.ts'
import type { RunExecution } from './execution.ts'
import type { StateSource } from './state.ts'

export interface ExecutionOptions extends RunTimes {
  bounds: RunBounds
  store: SessionStore
  clock: Clock
  logger: Logger
  run: RunRecord
  runnable: Runnable
  input: RunInput
  fence: number
  /** Everything of the context but what the execution itself provides. */
  context: Omit<RunContext, 'signal' | 'state' | 'recorded' | 'child'>
  /** The turns of its session before it, the latest last. */
  turns: (runs: number) => Promise<readonly RunRecord[]>
  prompts: PromptLog
  /** Undefined for a run that has no state to see. */
  state: StateSource | undefined
  /** What was recorded before the pause after which the run goes on, the `run_resumed` included. */
  before?: readonly RunEvent[] | undefined
  startChild: StartChild
  /** The run that it is part of. */
  parent?: RunExecution | undefined
  /** Its input is for nobody else until the runnable says so. */
  unchecked?: boolean | undefined
  /** The end is durable, or was given up. */
  onEnd: (execution: RunExecution) => void
}

/** Starts a run inside the one given, which `state` is shared with. */
export type StartChild = (
  parent: RunExecution,
  state: JsonObject,
  ...call: Parameters<RunContext['child']>
) => Promise<ChildRun>

/** How a run ends, or pauses. */
export interface Outcome {
  status: Exclude<RunStatus, 'queued' | 'running'>
  reason?: CancellationReason
  error?: RunError
}
