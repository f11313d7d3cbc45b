import type { SqlRow } from '../../../sqlite/connection.ts'
import type { BatchSource, PlacedBatch } from '../../rows/batches.ts'
import { largeBytes } from '../../rows/event-page.ts'
import { selectBatch, selectEvents, selectEventsWith } from './queries.ts'
import type { All } from './records.ts'

/** The batches of a run that are recorded in rows of their own, and the last one, which is in the run's row. */
export function batchSource(all: All, runId: string): BatchSource {
  return {
    runId,
    read: async (start, limit) => (await all(selectEvents, [runId, start, limit, largeBytes])).map(toPlaced),
    async search(start, limit, signs) {
      const rows = await all(selectEventsWith(signs.length), [runId, start, limit, largeBytes, ...signs])
      return rows.map((row) => ({ ...toPlaced(row), found: row.found === 1 }))
    },
    async readOne(place) {
      const [row] = await all(selectBatch, [runId, place])
      return typeof row?.batch === 'string' ? row.batch : undefined
    },
  }
}

function toPlaced({ place, batch }: SqlRow): PlacedBatch {
  return { place: place as number, batch: batch as string | null }
}
