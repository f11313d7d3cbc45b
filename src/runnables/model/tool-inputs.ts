import type { ToolInputDelta } from '../../core/event.ts'

/** Readers see an input grow at most ten times per second, so that a long one is not thousands of events. */
const everyMs = 100

interface Input {
  name: string
  text: string
  toldAt: number
}

/** The inputs of tools while the model writes them: together, the pieces of one are its whole text. */
export class ToolInputs {
  readonly #now: () => number
  readonly #inputs = new Map<string, Input>()

  constructor(now: () => number) {
    this.#now = now
  }

  start(callId: string, name: string): void {
    this.#inputs.set(callId, { name, text: '', toldAt: Number.NEGATIVE_INFINITY })
  }

  add(callId: string, text: string): ToolInputDelta[] {
    const input = this.#inputs.get(callId)
    if (input === undefined || text === '') return []
    input.text += text
    const now = this.#now()
    if (now - input.toldAt < everyMs) return []
    input.toldAt = now
    return tell(callId, input)
  }

  end(callId: string): ToolInputDelta[] {
    const input = this.#inputs.get(callId)
    this.#inputs.delete(callId)
    return input === undefined ? [] : tell(callId, input)
  }

  /** The model has ended in the middle of them. */
  endAll(): ToolInputDelta[] {
    return [...this.#inputs.keys()].flatMap((callId) => this.end(callId))
  }
}

function tell(call_id: string, input: Input): ToolInputDelta[] {
  const { name, text } = input
  input.text = ''
  return text === '' ? [] : [{ type: 'tool_input_delta', call_id, name, text }]
}
