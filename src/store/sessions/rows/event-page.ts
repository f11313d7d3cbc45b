import type { RunEvent } from '../../../core/event.ts'

export interface RecordedBatch {
  events: RunEvent[]
  characters: number
}

/** A batch has some kilobytes, or is one large event. A caller with a small limit wants few of them. */
const batchesAtOnce = 4
export const maxBatches = 32
const fewEvents = 1_000
/** A larger batch is read by itself. */
export const largeBytes = 256 * 1024

/** How many batches to read at once for a page of this many events. */
export function batchesFor(limit: number): number {
  return limit > fewEvents ? maxBatches : batchesAtOnce
}

/** At most `limit` events of these batches. No further batch is read above a number of characters. */
export async function readEventPage(
  batches: AsyncIterable<RecordedBatch>,
  limit: number,
  maxCharacters: number,
): Promise<{ events: RunEvent[]; isLast: boolean }> {
  const page = new EventPage(limit, maxCharacters)
  for await (const batch of batches) if (page.add(batch)) break
  return page
}

/** The same from batches that are there already. */
export class EventPage {
  readonly #limit: number
  readonly #maxCharacters: number
  #characters = 0
  events: RunEvent[] = []
  /** Whether it has all events of its batches, and may have more. */
  isLast = true

  constructor(limit: number, maxCharacters: number) {
    this.#limit = limit
    this.#maxCharacters = maxCharacters
  }

  /** Whether it is full now. */
  add({ events, characters }: RecordedBatch): boolean {
    for (const event of events) this.events.push(event)
    this.#characters += characters
    if (this.events.length >= this.#limit) this.events = this.events.slice(0, this.#limit)
    else if (this.events.length === 0 || this.#characters < this.#maxCharacters) return false
    this.isLast = false
    return true
  }
}
