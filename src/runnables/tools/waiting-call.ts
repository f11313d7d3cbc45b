import type { InputRequired } from '../../core/event.ts'

/** The result of a tool call that waits for runs inside this one: the run pauses too. */
export class WaitingCall {
  readonly asks: readonly InputRequired[]
  /** The member of a team that the call stands for. Absent: the call is made again when the run is resumed. */
  readonly runId: string | undefined

  constructor(asks: readonly InputRequired[], runId?: string) {
    this.asks = asks
    this.runId = runId
  }
}

interface Steps {
  steps: readonly { toolResults: readonly { output: unknown }[] }[]
}

/** Stops a model with waiting calls; not a limit of the settings. */
export function waitsInside({ steps }: Steps): boolean {
  return steps.at(-1)?.toolResults.some(({ output }) => output instanceof WaitingCall) === true
}
