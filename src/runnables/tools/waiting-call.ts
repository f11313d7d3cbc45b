import type { InputRequired } from '../../core/event.ts'

/** What a tool gives whose call waits for a run inside this one: the run pauses with it. */
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

/** Stops a model whose calls wait; no limit that somebody has set. */
export function waitsInside({ steps }: Steps): boolean {
  return steps.at(-1)?.toolResults.some(({ output }) => output instanceof WaitingCall) === true
}
