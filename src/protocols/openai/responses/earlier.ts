import type { RunEvent } from '../../../core/event.ts'
import type { Json } from '../../../core/json.ts'
import { kindOf } from '../../../core/waiting.ts'
import type { Batch } from '../../frames.ts'

/** What the calls of a run are that a later stretch has the results of. */
export class EarlierCalls {
  readonly inputs = new Map<string, Json>()
  /** Calls that a person was asked about. */
  readonly approvals = new Set<string>()

  /** The same events; what is noted of them is known before they are read. */
  watch(events: AsyncIterator<Batch>): AsyncIterator<Batch> {
    return {
      next: async () => {
        const read = await events.next()
        if (!read.done) for (const event of read.value) this.#note(event)
        return read
      },
      return: async () => (await events.return?.()) ?? { done: true, value: undefined },
    }
  }

  #note(event: RunEvent): void {
    if (event.type === 'tool_call') this.inputs.set(event.call_id, event.input)
    if (event.type !== 'input_required' || event.call_id === undefined || kindOf(event) !== 'approval') return
    this.approvals.add(event.call_id)
    if (!this.inputs.has(event.call_id)) this.inputs.set(event.call_id, event.data ?? null)
  }
}
