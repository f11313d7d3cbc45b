import type { StepEnd, StepStart } from '../../core/event.ts'
import type { AgUiEvent } from './event.ts'
import { none } from './event.ts'

interface OpenStep {
  start: StepStart
  /** The name by which this stream has it; undefined for a child run. */
  stepName: string | undefined
}

/** The steps of a run: those with a child run are subagents. Open ones must have different names. */
export class AgUiSteps {
  readonly #open = new Map<string, OpenStep>()
  /** Child runs in this stream: each may begin once. */
  #subagents = new Set<string>()

  start(step: StepStart): readonly AgUiEvent[] {
    if (this.#open.has(step.step_id)) return none
    const { child_run_id: child, name, parent_id: parent = '' } = step
    if (child === undefined || this.#subagents.has(child)) {
      const stepName = this.#unusedName(name)
      this.#open.set(step.step_id, { start: step, stepName })
      return [{ type: 'STEP_STARTED', stepName }]
    }
    this.#open.set(step.step_id, { start: step, stepName: undefined })
    this.#subagents.add(child)
    const outer = this.#open.get(parent)?.start.child_run_id
    const parentSubagentRunId = outer !== undefined && this.#subagents.has(outer) ? { parentSubagentRunId: outer } : {}
    return [{ type: 'SUBAGENT_STARTED', subagentRunId: child, name, ...parentSubagentRunId }]
  }

  end({ step_id, status, output, error }: StepEnd): readonly AgUiEvent[] {
    const step = this.#open.get(step_id)
    if (step === undefined) return none
    this.#open.delete(step_id)
    const { stepName, start } = step
    if (stepName !== undefined) return [{ type: 'STEP_FINISHED', stepName }]
    const subagentRunId = start.child_run_id ?? ''
    if (status !== 'completed') {
      const message = error?.message ?? (status === 'cancelled' ? 'The run was cancelled.' : 'The run failed.')
      return [{ type: 'SUBAGENT_ERROR', subagentRunId, message }]
    }
    const result = output === undefined || output === null ? {} : { result: output }
    return [{ type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'success' }, ...result }]
  }

  /** Ends what is open in the stream, the last first. `interruptsOf`: what a child run waits for, if it does. */
  close(interruptsOf?: (childRunId: string) => string[]): readonly AgUiEvent[] {
    return [...this.#open.values()].reverse().map(({ stepName, start }): AgUiEvent => {
      if (stepName !== undefined) return { type: 'STEP_FINISHED', stepName }
      const subagentRunId = start.child_run_id ?? ''
      if (interruptsOf === undefined) {
        return { type: 'SUBAGENT_ERROR', subagentRunId, message: 'The run ended before this one did.' }
      }
      const interruptIds = interruptsOf(subagentRunId)
      const about = interruptIds.length === 0 ? {} : { interruptIds }
      return { type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'suspended', ...about } }
    })
  }

  /** A new stream begins with what an earlier one left open. */
  reopen(): readonly AgUiEvent[] {
    const steps = [...this.#open.values()].map(({ start }) => start)
    this.#open.clear()
    this.#subagents = new Set()
    return steps.flatMap((step) => this.start(step))
  }

  #unusedName(name: string): string {
    const taken = new Set([...this.#open.values()].map(({ stepName }) => stepName))
    let unused = name
    for (let number = 2; taken.has(unused); number++) unused = `${name} #${number}`
    return unused
  }
}
