import type { InputRequired } from '../../core/event.ts'

/** The result of a tool call that waits for a run inside this one: the run pauses too. */
export class WaitingCall {
  readonly runId: string
  readonly asks: readonly InputRequired[]

  constructor(runId: string, asks: readonly InputRequired[]) {
    this.runId = runId
    this.asks = asks
  }
}

interface Steps {
  steps: readonly { toolResults: readonly { output: unknown }[] }[]
}

/** Stops a model with waiting calls; not a limit of the settings. */
export function waitsInside({ steps }: Steps): boolean {
  return steps.at(-1)?.toolResults.some(({ output }) => output instanceof WaitingCall) === true
}
