import type { RunEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import type { CancellationReason, RunError, RunRecord, RunStatus } from '../../core/run.ts'
import type { ChildRun, RecordedChild, RunContext, RunInput, Runnable } from '../../core/runnable.ts'
import type { RunFiles } from '../files/run-files.ts'
import type { RunTimes } from '../limits/run-timers.ts'
import type { PromptLog } from '../prompts/log.ts'
import type { RunExecution } from './execution.ts'
import type { StateSource } from './state.ts'

/** What one run is made of. */
export interface ExecutionOptions {
  run: RunRecord
  /** What was registered; `runnable` may be it with a cache. */
  entity: Runnable
  runnable: Runnable
  input: RunInput
  times: RunTimes
  /** The context without what the execution itself provides. */
  context: Omit<
    RunContext,
    'userId' | 'user' | 'signal' | 'fence' | 'state' | 'recorded' | 'emit' | 'pause' | 'repeat' | keyof ChildContext
  >
  /** The latest runs of its session before it, oldest first. */
  earlierRuns: (count: number) => Promise<readonly RunRecord[]>
  prompts: PromptLog
  files: RunFiles
  /** Undefined for a run that neither sees nor changes the session's state. */
  state: StateSource | undefined
  /** A resumed run: all its recorded events, the new `run_resumed` included. */
  before?: readonly RunEvent[] | undefined
  children: Children
  /** A child run: the run that contains it. */
  parent?: RunExecution | undefined
  /** The input stays hidden until a guardrail of the runnable has passed it. */
  unchecked?: boolean | undefined
  /** The turn whose place it takes. */
  replaces?: string | undefined
  /** Queued by an earlier process: it may have replaced turns. */
  isAdopted?: boolean | undefined
  /** For a run without a state: sets the user of its session, if the run has none. */
  readUser?: ((signal: AbortSignal) => Promise<void>) | undefined
  /** Called once: the end is durable, or was given up, or the start was refused. */
  onEnd: (execution: RunExecution) => void
}

/** What the context of a run offers for its children. */
export type ChildContext = Pick<RunContext, 'child' | 'findChild' | 'cancelChild'>

/** The runs inside other runs. */
export interface Children {
  /** Starts or resumes a run inside `parent`; both share `state`. */
  start(parent: RunExecution, state: JsonObject, ...call: Parameters<RunContext['child']>): Promise<ChildRun>
  /** A child of `parent` as it is recorded. */
  find(parent: RunRecord, runId: string): Promise<RecordedChild | undefined>
  /** Cancels a child that waits for input. */
  cancel(run: RunRecord): Promise<void>
}

/** How a run ends, or pauses. */
export interface RunEnding {
  status: Exclude<RunStatus, 'queued' | 'running'>
  reason?: CancellationReason
  error?: RunError
}
