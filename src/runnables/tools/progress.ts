import type { ToolProgress } from '../../core/event.ts'
import { Throttle } from '../../runtime/throttle.ts'
import { systemTimers } from '../../runtime/timers.ts'
import { jsonText } from '../base/json-value.ts'

/** A call tells of its progress at most ten times per second. */
const everyMs = 100

export type TellProgress = (event: ToolProgress) => void

/**
 * Tells what a call has given so far: at once, then at most ten times per second, always the newest. What a call tells in all
 * is no larger than a result may be; from there on only its result is recorded.
 */
export class CallProgress {
  readonly #throttle: Throttle<{ output: unknown }>
  #bytesLeft: number

  constructor(
    { call_id, name }: Pick<ToolProgress, 'call_id' | 'name'>,
    { bytes, tell }: { bytes: number; tell: TellProgress },
  ) {
    this.#bytesLeft = bytes
    this.#throttle = new Throttle(systemTimers, everyMs, ({ output }) => {
      const text = textOf(output)
      if (text === undefined) return
      this.#bytesLeft -= Buffer.byteLength(text)
      if (this.#bytesLeft >= 0) tell({ type: 'tool_progress', call_id, name, output: JSON.parse(text) })
    })
  }

  offer(output: unknown): void {
    if (this.#bytesLeft > 0) this.#throttle.offer({ output })
  }

  /** The call has ended: nothing more is told. */
  stop(): void {
    this.#bytesLeft = 0
    this.#throttle.stop()
  }
}

/** Undefined for a value that can't be told; as the result it fails the call. */
function textOf(output: unknown): string | undefined {
  try {
    return jsonText(output)
  } catch {
    return undefined
  }
}

/** The progress of tools whose calls the AI SDK makes for an agent that is hosted as it is. */
export class ProgressOfCalls {
  readonly #options: ConstructorParameters<typeof CallProgress>[1]
  #calls: Map<string, CallProgress> | undefined

  constructor(options: ConstructorParameters<typeof CallProgress>[1]) {
    this.#options = options
  }

  offer(callId: string, name: string, output: unknown): void {
    this.#calls ??= new Map()
    const call = this.#calls.get(callId) ?? new CallProgress({ call_id: callId, name }, this.#options)
    this.#calls.set(callId, call)
    call.offer(output)
  }

  end(callId: string): void {
    this.#calls?.get(callId)?.stop()
    this.#calls?.delete(callId)
  }

  endAll(): void {
    for (const callId of this.#calls?.keys() ?? []) this.end(callId)
  }
}

/** The last result of a tool that gives several. The others, after which it went on, are its progress. */
export async function lastResult(result: unknown, progress: CallProgress): Promise<unknown> {
  if (!isStream(result)) return result
  let later: NodeJS.Immediate | undefined
  let output: unknown
  const offer = () => {
    if (later === undefined) return
    clearImmediate(later)
    later = undefined
    progress.offer(output)
  }
  try {
    for await (const piece of result) {
      offer()
      output = piece
      // One that ends here has given its result.
      later = setImmediate(offer)
    }
    return output
  } finally {
    clearImmediate(later)
  }
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
