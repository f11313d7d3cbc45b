import type { RunEvent } from '../event.ts'
import { type EventOf, idOf, type Step } from './step.ts'
import { RunSteps } from './steps.ts'

/** A run's steps with their events. */
export class StepRecords extends RunSteps {
  /** By call or step id, also those that come before it begins. */
  readonly #ofId = new Map<string, RunEvent[]>()

  override add(event: RunEvent): boolean {
    const id = idOf(event)
    if (event.seq > this.seq && id !== undefined) {
      const known = this.#ofId.get(id)
      if (known === undefined) this.#ofId.set(id, [event])
      else known.push(event)
    }
    return super.add(event)
  }

  /** The number by which the answer cites a passage of a search: the source that came after it, or else with an earlier search. */
  numberOf(chunkId: string, search: EventOf<'retrieval'>): number | undefined {
    const sources = this.sources.filter(({ chunk_id }) => chunk_id === chunkId)
    return (sources.find(({ seq }) => seq > search.seq) ?? sources.at(-1))?.index
  }

  /** The events that say how a step began, what it gave and how it ended. */
  of({ event, end, kind, callId, seq }: Step): readonly RunEvent[] {
    if (callId !== undefined && kind !== 'wait') return this.ofCall(callId, seq)
    return end === undefined || end === event ? [event] : [event, end]
  }

  /** Of the call or step with this id of which the event `seq` tells: some models use the id of a call again. */
  ofCall(callId: string, seq: number): readonly RunEvent[] {
    const all = this.#ofId.get(callId) ?? []
    const calls = all.filter(({ type }) => type === 'tool_call').map((call) => call.seq)
    if (calls.length < 2) return all
    const from = calls.findLast((one) => one <= seq) ?? 0
    const to = calls.find((one) => one > seq) ?? Number.POSITIVE_INFINITY
    return all.filter((one) => one.seq >= from && one.seq < to)
  }
}
