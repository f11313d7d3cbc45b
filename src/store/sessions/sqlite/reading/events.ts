import type { RunEvent } from '../../../../core/event.ts'
import { decodeBatch } from '../schema/event-batch.ts'
import { selectBatch, selectEvents, selectEventsWith } from './queries.ts'
import type { All } from './records.ts'

/** A batch has some kilobytes, or is one large event. A caller with a small limit wants few of them. */
const batchesAtOnce = 4
const maxBatches = 32
const fewEvents = 1_000
const largeBytes = 256 * 1024

interface RecordedBatch {
  events: RunEvent[]
  characters: number
}

/** The events of a run after the event `after`, one batch at a time; a large one is read by itself. */
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
      // The run has been deleted.
      if (typeof text !== 'string') return
      const seen = last
      const events = decodeBatch(runId, text).filter(({ seq }) => seq > seen)
      last = events.at(-1)?.seq ?? last
      yield { events, characters: text.length }
    }
    if (rows.length < atOnce) return
  }
}

/** Batches that one statement searches, about 16 MB. */
const searchedAtOnce = 1_000

/** The events of these types after the event `after`, from the batches that contain such events. */
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
      // The first row is the batch that holds `from`, which may have been searched already.
      if (found !== 1 || (place as number) <= seen) continue
      const text = batch ?? (await all(selectBatch, [runId, place as number]))[0]?.batch
      // The run has been deleted.
      if (typeof text !== 'string') return
      const events = decodeBatch(runId, text).filter(({ seq, type }) => seq > after && wanted.has(type))
      if (events.length > 0) yield { events, characters: text.length }
    }
    if (rows.length < searchedAtOnce) return
    seen = from = rows.at(-1)?.place as number
  }
}

/** At most `limit` events after `after`. No further batch is read above a number of characters. */
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

/** A string in the JSON of every batch with such an event; a rare first character makes the search fast. */
function signOf(type: RunEvent['type']): string {
  return /_[a-z]+/.exec(type)?.[0] ?? `${type}"`
}
