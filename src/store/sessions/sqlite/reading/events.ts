import type { RunEvent } from '../../../../core/event.ts'
import { decodeBatch } from '../../rows/event-batch.ts'
import { largeBytes, maxBatches, type RecordedBatch, signOf } from '../../rows/event-page.ts'
import { selectBatch, selectEvents, selectEventsWith } from './queries.ts'
import type { All } from './records.ts'

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
