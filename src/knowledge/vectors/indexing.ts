import type { Index, Table, VectorQuery } from '@lancedb/lancedb'
import type { TemporaryFolder } from './temporary-folder.ts'

/** An index holds vectors of so few dimensions as they are: it finds what an exact search does in a third of the time. */
const fewDimensions = 256
const fewFromRows = 10_000
/** 15,000 rows of 1,024 dimensions: below it, an exact search takes some 10 ms. */
const manyFromValues = 15_360_000
/** Of 4,096 rows each. */
const probes = 24
/** Of shortened vectors, so many times the wanted ones are compared exactly. */
const candidates = 3
const bits = 2
/** Of an index of an earlier version, until it is replaced. */
const earlierCandidates = 4
/** Share of unindexed rows above which an index is rebuilt. */
const staleShare = 0.3
/** Comparing so many values without an index takes some 40 ms of a processor. */
const maxCompared = 40_000_000

export interface TableIndex {
  /** Looks at what the index of the table has. */
  refresh(): Promise<void>
  added(rows: number): void
  /** Whether a brief search leaves rows out. */
  isBehind(): boolean
  /** The query with what its index needs; undefined when a brief search finds nothing. */
  prepare(query: VectorQuery, brief: boolean): VectorQuery | undefined
  /** An index keeps what was in the table when it was built. */
  drop(): Promise<void>
  /** Builds the index if it is due, beside writes. Gives whether an earlier one was replaced, whose files are still there. */
  build(): Promise<boolean>
}

export interface IndexLimits {
  /** Rows from which a table gets an index; default by their dimensions. */
  indexedFromRows?: number | undefined
  /** Values that a brief search compares without an index. */
  comparedValues?: number | undefined
}

export function tableIndex(
  table: Table,
  dimensions: number,
  temporary: TemporaryFolder,
  { indexedFromRows, comparedValues = maxCompared }: IndexLimits,
): TableIndex {
  const fromRows =
    indexedFromRows ?? (dimensions <= fewDimensions ? fewFromRows : Math.ceil(manyFromValues / dimensions))
  const exact = dimensions <= fewDimensions
  const wanted = exact ? 'vector_flat' : `vector_rq${bits}`
  let held: string | undefined
  let unindexed = 0

  const make = async (): Promise<Index> => {
    const { Index } = await import('@lancedb/lancedb')
    return exact ? Index.ivfFlat({ distanceType: 'cosine' }) : Index.ivfRq({ distanceType: 'cosine', numBits: bits })
  }
  const indexes = async () => (await table.listIndices()).filter(({ columns }) => columns.includes('vector'))
  const refresh = async () => {
    const names = (await indexes()).map(({ name }) => name)
    held = names.find((name) => name === wanted) ?? names[0]
    const stats = held === undefined ? undefined : await table.indexStats(held)
    unindexed = stats?.numUnindexedRows ?? (await table.countRows())
  }
  const drop = async (names: readonly string[]) => {
    for (const name of names) await table.dropIndex(name)
    await refresh()
  }
  const isBehind = () => unindexed * dimensions > comparedValues

  return {
    refresh,
    isBehind,
    added(rows) {
      unindexed += rows
    },
    prepare(query, brief) {
      if (brief && isBehind()) {
        if (held === undefined) return undefined
        query.fastSearch()
      }
      query.nprobes(probes)
      if (held !== wanted) query.refineFactor(earlierCandidates)
      else if (!exact) query.refineFactor(candidates)
      return query
    },
    drop: async () => drop((await indexes()).map(({ name }) => name)),
    async build() {
      await refresh()
      const rows = await table.countRows()
      const earlier = (await indexes()).map(({ name }) => name)
      const isStale = held !== wanted || unindexed >= rows * staleShare
      if (rows < fromRows || !isStale) return false
      const config = await make()
      await temporary.during(() => table.createIndex('vector', { config, name: wanted, replace: true }))
      await drop(earlier.filter((name) => name !== wanted))
      return earlier.length > 0
    },
  }
}
