import type { RunEvent } from '../../../core/event.ts'
import { decodeBatch } from './event-batch.ts'
import { maxBatches, type RecordedBatch } from './event-page.ts'

/** Batches that one statement searches, about 16 MB. */
const searchedAtOnce = 1_000

export interface PlacedBatch {
  place: number
  /** Null when it is large, to be read by itself. */
  batch: string | null
}

/** The batches of one run, as a driver reads them. */
export interface BatchSource {
  runId: string
  /** At most `limit` batches from the one that holds the event `start`. */
  read(start: number, limit: number): Promise<PlacedBatch[]>
  /** The same batches; `found`, with its text, where one of the signs is in it. */
  search(start: number, limit: number, signs: readonly string[]): Promise<(PlacedBatch & { found: boolean })[]>
  /** One batch of any size; undefined when the run has been deleted. */
  readOne(place: number): Promise<string | undefined>
}

/** The recorded events of a run after the event `after`, one batch at a time. */
export async function* readBatches(
  source: BatchSource,
  after: number,
  atOnce = maxBatches,
): AsyncGenerator<RecordedBatch> {
  for (let last = after; ; ) {
    const rows = await source.read(last + 1, atOnce)
    for (const { place, batch } of rows) {
      const text = batch ?? (await source.readOne(place))
      if (text === undefined) return
      const recorded = toBatch(source.runId, text, last)
      last = recorded.events.at(-1)?.seq ?? last
      yield recorded
    }
    if (rows.length < atOnce) return
  }
}

/** The events of these types after the event `after`, from the batches that contain such events. */
export async function* readBatchesWith(
  source: BatchSource,
  after: number,
  types: readonly RunEvent['type'][],
): AsyncGenerator<RecordedBatch> {
  if (types.length === 0) return
  const wanted = new Set(types)
  const signs = [...new Set(types.map(signOf))]
  for (let start = after + 1, seen = 0; ; ) {
    const rows = await source.search(start, searchedAtOnce, signs)
    for (const { place, found, batch } of rows) {
      // The first row is the batch that holds `start`, which may have been searched already.
      if (!found || place <= seen) continue
      const text = batch ?? (await source.readOne(place))
      if (text === undefined) return
      const { events, characters } = toBatch(source.runId, text, after)
      const matching = events.filter(({ type }) => wanted.has(type))
      if (matching.length > 0) yield { events: matching, characters }
    }
    if (rows.length < searchedAtOnce) return
    seen = start = rows.at(-1)?.place ?? start
  }
}

export function toBatch(runId: string, text: string, after: number): RecordedBatch {
  return { events: decodeBatch(runId, text).filter(({ seq }) => seq > after), characters: text.length }
}

/** A string in the JSON of every batch with such an event; a rare first character makes the search fast. */
function signOf(type: RunEvent['type']): string {
  return /_[a-z]+/.exec(type)?.[0] ?? `${type}"`
}
