import type { RunEvent } from '../../../../core/event.ts'
import { decodeBatch } from '../schema/event-batch.ts'
import { selectBatch, selectEvents, selectEventsWith } from './queries.ts'
import type { All } from './records.ts'

/** A batch is some kilobytes, or one large event; who asks for few events wants few of them. */
const batchesAtOnce = 4
const maxBatches = 32
const fewEvents = 1_000
const largeBytes = 256 * 1024

interface RecordedBatch {
  events: RunEvent[]
  characters: number
}

/** What was recorded of a run behind the event `after`, a batch at a time; a large one is read by itself. */
export async function* readBatches(
  all: All,
  runId: string,
  after: number,
  atOnce = maxBatches,
): AsyncGenerator<RecordedBatch> {
  for (let last = after; ; ) {
    const rows = await all(selectEvents, [runId, last + 1, atOnce, largeBytes])
    for (const { place, batch } of rows) {
      const text = batch ?? (await all(selectBatch, [runId, place as number]))[0]?.batch
      // The run is gone.
      if (typeof text !== 'string') return
      const seen = last
      const events = decodeBatch(runId, text).filter(({ seq }) => seq > seen)
      last = events.at(-1)?.seq ?? last
      yield { events, characters: text.length }
    }
    if (rows.length < atOnce) return
  }
}

/** How many batches a statement looks into; about as many as hold 16 MB. */
const searchedAtOnce = 1_000

/** Of the batches behind the event `after` those that may have events of these types, and of them these events. */
export async function* readBatchesWith(
  all: All,
  runId: string,
  after: number,
  types: readonly RunEvent['type'][],
): AsyncGenerator<RecordedBatch> {
  const wanted = new Set(types)
  const signs = [...new Set(types.map(signOf))]
  const select = selectEventsWith(signs.length)
  for (let from = after + 1, seen = 0; ; ) {
    const rows = await all(select, [runId, from, searchedAtOnce, largeBytes, ...signs])
    for (const { place, found, batch } of rows) {
      // It begins with the batch that has the number `from`, which has been looked into when this goes on.
      if (found !== 1 || (place as number) <= seen) continue
      const text = batch ?? (await all(selectBatch, [runId, place as number]))[0]?.batch
      // The run is gone.
      if (typeof text !== 'string') return
      const events = decodeBatch(runId, text).filter(({ seq, type }) => seq > after && wanted.has(type))
      if (events.length > 0) yield { events, characters: text.length }
    }
    if (rows.length < searchedAtOnce) return
    seen = from = rows.at(-1)?.place as number
  }
}

/** Those behind `after`, at most `limit`; no further batch is read once there are so many characters. */
export async function readEventPage(
  all: All,
  runId: string,
  after: number,
  limit: number,
  maxCharacters: number,
  batches = readBatches(all, runId, after, limit > fewEvents ? maxBatches : batchesAtOnce),
): Promise<{ events: RunEvent[]; isLast: boolean }> {
  const events: RunEvent[] = []
  let characters = 0
  for await (const batch of batches) {
    for (const event of batch.events) events.push(event)
    characters += batch.characters
    if (events.length >= limit) return { events: events.slice(0, limit), isLast: false }
    if (events.length > 0 && characters >= maxCharacters) return { events, isLast: false }
  }
  return { events, isLast: true }
}

/** Stands in the JSON of every batch with such an event. It begins with a rare character where it can, which makes the search quick. */
function signOf(type: RunEvent['type']): string {
  return /_[a-z]+/.exec(type)?.[0] ?? `${type}"`
}
