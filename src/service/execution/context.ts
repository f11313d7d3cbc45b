import { AppError } from '../../core/error.ts'
import type { EmittedEvent, InputRequired } from '../../core/event.ts'
import { inputCheck, type RunContext } from '../../core/runnable.ts'
import type { RunIntake } from '../events/intake.ts'
import type { RunRecorder } from '../events/recorder.ts'
import type { RunExecution } from './execution.ts'
import { UserWithoutMemory } from './run-user.ts'
import type { RunState } from './state.ts'

/** The whole context of one execution. */
export function contextOf(
  execution: RunExecution,
  state: RunState,
  recorder: RunRecorder,
  intake: RunIntake,
): RunContext {
  const { run, options, signal, check } = execution
  const { children, context } = options

  function pause(requests: readonly InputRequired[]): void {
    if (intake.asked) throw twoKinds()
    for (const request of requests) void execution.take(request)
    state.check()
    execution.pause()
  }

  const whole: RunContext = {
    ...context,
    userId: run.user_id,
    user: new UserWithoutMemory(run.user_id),
    signal,
    fence: `${run.run_id}:${execution.fence}`,
    state: state.value,
    [inputCheck]: check,
    recorded: () => recorder.recorded(),
    child: (...call: Parameters<RunContext['child']>) => children.start(execution, state.value, ...call),
    findChild: (runId: string) => children.find(run, runId),
    cancelChild: children.cancel,
    async emit(event: EmittedEvent) {
      if (!execution.ended) await execution.take(event)
    },
    pause(requests: readonly InputRequired[]) {
      if (execution.ended) return
      try {
        pause(requests)
      } catch (error) {
        execution.fail(error)
      }
    },
  }
  if (context.again !== undefined) whole.repeat = (events) => intake.repeat(events)
  return whole
}

function twoKinds(): AppError {
  return new AppError(
    'run_failed',
    'The agent yielded `input_required` while an agent that it asked waits for input too. Wait for one of them at a time.',
  )
}
