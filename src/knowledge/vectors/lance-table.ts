import type { Connection, Table } from '@lancedb/lancedb'
import type { VectorRow, VectorTable } from '../../core/knowledge/drivers.ts'
import { toHalves } from '../../core/knowledge/half-float.ts'
import { releaseBytes } from '../../runtime/release-bytes.ts'
import { createSerial, type Serial } from '../../runtime/serial.ts'
import { mustRewrite } from './deletions.ts'
import { gathered } from './gathered.ts'
import { type IndexLimits, type TableIndex, tableIndex } from './indexing.ts'
import type { TemporaryFolder } from './temporary-folder.ts'
import { whereIn } from './where.ts'

/** Each write is a file. A compaction rewrites all data, so it waits for many writes, or for a pause in writing. */
const compactAfterWrites = 400
const fewWrites = 8

export interface Upkeep {
  limits: IndexLimits
  quietMs: number
  /** The tables of a store are tidied one after the other, because searches need the processor too. */
  turns: Serial
  temporary: TemporaryFolder
  folder: string
}
export type OpenTable = VectorTable & { close(): Promise<void> }

/** Opens the table, which is created if it is missing. */
export async function openTable(
  database: Connection,
  name: string,
  dimensions: number,
  upkeep: Upkeep,
): Promise<OpenTable> {
  const { arrow } = await import('./arrow.ts')
  const half = new arrow.Float16()
  const list = new arrow.FixedSizeList(dimensions, new arrow.Field('item', half, false))
  const schema = new arrow.Schema([
    new arrow.Field('chunk', new arrow.Int32(), false),
    new arrow.Field('generation', new arrow.Int32(), false),
    new arrow.Field('vector', list, false),
  ])
  const exists = (await database.tableNames({ limit: 100_000 })).includes(name)
  const table = exists ? await database.openTable(name) : await database.createEmptyTable(name, schema)
  /** The buffer of all writes, because allocating is expensive. */
  let reused = new Uint16Array()
  const index = tableIndex(table, dimensions, upkeep.temporary, upkeep.limits)
  await index.refresh()
  const onQuiet = () => {
    releaseBytes(reused)
    reused = new Uint16Array()
  }
  const writes = serialWrites(table, upkeep, index, onQuiet)

  const toArrow = (rows: readonly VectorRow[], values: Uint16Array) => {
    for (const [at, { vector }] of rows.entries())
      if (vector instanceof Uint16Array) values.set(vector, at * dimensions)
      else toHalves(vector, values, at * dimensions)
    const child = arrow.makeData({ type: half, data: values })
    const vectors = arrow.makeData({ type: list, length: rows.length, nullCount: 0, child })
    const keys = (pick: (row: VectorRow) => number) =>
      arrow.makeData({ type: new arrow.Int32(), data: Int32Array.from(rows, pick) })
    const struct = arrow.makeData({
      type: new arrow.Struct(schema.fields),
      length: rows.length,
      nullCount: 0,
      children: [keys((row) => row.chunk), keys((row) => row.generation), vectors],
    })
    return new arrow.Table(schema, new arrow.RecordBatch(schema, struct))
  }

  const waitingRows = gathered((rows) =>
    writes.run(async (target) => {
      const length = rows.length * dimensions
      if (reused.length < length) reused = new Uint16Array(length)
      await target.add(toArrow(rows, reused.subarray(0, length)))
      index.added(rows.length)
    }),
  )

  return {
    async add(rows) {
      for (const row of rows) assertLength(row.vector, dimensions)
      if (rows.length > 0) await waitingRows.add(rows)
    },
    async search(vector, limit, generations, brief = false) {
      if (generations?.length === 0) return []
      const query = index.prepare(table.query().nearestTo(vector).distanceType('cosine').column('vector'), brief)
      if (query === undefined) return []
      if (generations) query.where(whereIn('generation', generations))
      const found = await query.select(['chunk', 'generation', '_distance']).limit(limit).toArrow()
      const chunks = found.getChild('chunk')
      const held = found.getChild('generation')
      const distances = found.getChild('_distance')
      return Array.from({ length: found.numRows }, (_, at) => ({
        chunk: Number(chunks?.get(at)),
        generation: Number(held?.get(at)),
        similarity: 1 - Number(distances?.get(at)),
      }))
    },
    async counts() {
      const counts = new Map<number, number>()
      const found = await table.query().select(['generation']).toArrow()
      for (const generation of found.getChild('generation') ?? [])
        counts.set(Number(generation), (counts.get(Number(generation)) ?? 0) + 1)
      return counts
    },
    count: () => table.countRows(),
    async removeGenerations(generations) {
      if (generations.length > 0) await writes.run((target) => target.delete(whereIn('generation', generations)))
    },
    compact: () => writes.compact(),
    async close() {
      await writes.close()
      table.close()
    },
  }
}

function assertLength(vector: VectorRow['vector'], dimensions: number): void {
  if (vector.length !== dimensions)
    throw new Error(`a vector of ${vector.length} dimensions in a table of ${dimensions}`)
}

/** LanceDB works best with one writer at a time. Compacts its files after many writes or in a pause. */
function serialWrites(
  table: Table,
  { quietMs, temporary, folder, turns }: Upkeep,
  index: TableIndex,
  onQuiet: () => void,
) {
  const queue = createSerial()
  let tidied: Promise<void> | undefined
  let isClosed = false
  let sinceCompaction = 0
  let timer: NodeJS.Timeout | undefined

  const optimize = async () => {
    sinceCompaction = 0
    await temporary.during(() => table.optimize({ cleanupOlderThan: new Date() }))
    await index.refresh()
  }
  const rewrite = async () => {
    await index.drop()
    // Rewrites every row unchanged, so that the files with deleted rows are no longer used.
    await table.update({ valuesSql: { generation: 'generation' } })
    await optimize()
  }
  const rewriteWhenDue = () =>
    queue.run(async () => {
      if (await mustRewrite(folder, await table.countRows())) await rewrite()
    })
  /** What fails is due again after the next pause. */
  const tidy = async () => {
    if (!isClosed && (sinceCompaction >= fewWrites || index.isBehind()))
      await queue.run(optimize).catch(() => undefined)
    if (!isClosed) await rewriteWhenDue().catch(() => undefined)
    await queue.idle()
    const replaced = !isClosed && (await index.build().catch(() => false))
    if (replaced) await queue.run(optimize).catch(() => undefined)
  }
  const whenQuiet = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      void queue.idle().then(onQuiet)
      tidied = turns.run(tidy)
    }, quietMs).unref()
  }
  whenQuiet()
  // The deletions of a large table become due later, even without further writes.
  const hourly = setInterval(whenQuiet, 3_600_000).unref()

  return {
    run: (work: (target: Table) => Promise<unknown>) =>
      queue.run(async () => {
        await work(table)
        sinceCompaction++
        if (sinceCompaction >= compactAfterWrites) await optimize()
        whenQuiet()
      }),
    compact: () => queue.run(optimize),
    async close() {
      clearTimeout(timer)
      clearInterval(hourly)
      isClosed = true
      // Never needed: what can't be read is told to who reads it.
      if (sinceCompaction >= fewWrites) await queue.run(optimize).catch(() => undefined)
      await queue.idle()
      await tidied
    },
  }
}
