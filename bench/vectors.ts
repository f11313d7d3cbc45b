import { readdir, readFile, rm } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Embedder, VectorRow, VectorStore, VectorTable } from '../src/core/knowledge/drivers.ts'
import { lexicalEmbedder } from '../src/knowledge/embedders/lexical.ts'
import { shippedTable, staticEmbedder } from '../src/knowledge/embedders/static.ts'
import { lanceVectors } from '../src/knowledge/vectors/lancedb.ts'
import { postgresVectors } from '../src/store/vectors/vectors.ts'
import { vectorDatabase } from '../test/support/knowledge/vector-database.ts'
import { execute } from '../test/support/postgres/places.ts'
import { percentile } from './percentile.ts'

/*
 * Lists of vectors alone: writing, nearest vectors and what an index misses, in LanceDB and in Postgres.
 *
 *   node bench/vectors.ts --postgres URL [--rows 34000] [--embedders static,lexical] [--stores lancedb,postgres] [--texts node_modules]
 *     [--more 2000]
 *
 * `postgres` is pgvector where the database has it, else a copy in LanceDB. The texts are Markdown files and declarations
 * below --texts, cut into as many pieces as there are rows; the queries are sentences of some of them. --more rows are added
 * when the list has its index, and looked for as well.
 */

const { values: options } = parseArgs({
  options: {
    postgres: { type: 'string' },
    rows: { type: 'string', default: '34000' },
    embedders: { type: 'string', default: 'static,lexical' },
    stores: { type: 'string', default: 'lancedb,postgres' },
    texts: { type: 'string', default: 'node_modules' },
    queries: { type: 'string', default: '200' },
    more: { type: 'string', default: '0' },
  },
})
const depth = 60
const rowsAtOnce = 1_000
const chunksADocument = 10
/** Of a filter that leaves few documents, and one that leaves many. */
const fewShare = 0.01
const manyShare = 0.5
const indexWaitMs = 15 * 60_000
const schema = `bench_vectors_${process.pid}`

interface Made {
  dimensions: number
  rows: VectorRow[]
  /** Added later. */
  more: VectorRow[]
  queries: Float32Array[]
  nearest: Set<number>[]
  nearestOfAll: Set<number>[]
}

interface Figures {
  store: string
  writeRowsPerS: number
  indexS: number
  exact: number[]
  indexed: number[]
  few: number[]
  many: number[]
  recall: number
  missing: string
  laterRowsPerS: number
  withLater: number[]
  recallOfAll: number
}

async function pieces(count: number): Promise<string[]> {
  const texts: string[] = []
  for (const entry of await readdir(options.texts, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && /\.(md|d\.ts)$/.test(entry.name))
      texts.push(await readFile(join(entry.parentPath, entry.name), 'utf8'))
  const all = texts.join('\n')
  const size = Math.min(1_000, Math.floor(all.length / count))
  return Array.from({ length: count }, (_, at) => all.slice(at * size, (at + 1) * size))
}

async function make(embedder: Embedder, texts: readonly string[], first: number): Promise<Made> {
  const rows: VectorRow[] = []
  for (let from = 0; from < texts.length; from += rowsAtOnce)
    for (const vector of await embedder.embedTexts(texts.slice(from, from + rowsAtOnce)))
      rows.push({ chunk: rows.length + 1, generation: 1 + Math.floor(rows.length / chunksADocument), vector })
  const step = Math.floor(texts.length / Number(options.queries))
  const asked = texts.filter((_, at) => at % step === 0).map((text) => text.slice(100, 180))
  const queries = (await embedder.embedTexts(asked)).filter((vector) => vector.some((value) => value !== 0))
  const nearestIn = (some: readonly VectorRow[]) =>
    queries.map((query) => {
      const scored = some.map(({ chunk, vector }) => ({ chunk, score: dot(query, vector as Float32Array) }))
      return new Set(
        scored
          .sort((one, other) => other.score - one.score)
          .slice(0, depth)
          .map(({ chunk }) => chunk),
      )
    })
  const [early, more] = [rows.slice(0, first), rows.slice(first)]
  const [nearest, nearestOfAll] = [nearestIn(early), nearestIn(rows)]
  return { dimensions: embedder.embedding.dimensions, rows: early, more, queries, nearest, nearestOfAll }
}

/** Vectors have length 1. */
function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0)
  return sum
}

async function timed(table: VectorTable, queries: readonly Float32Array[], generations?: number[]) {
  const times: number[] = []
  const found: number[][] = []
  for (const query of queries) {
    const begunMs = performance.now()
    const hits = await table.search(query, depth, generations)
    times.push(performance.now() - begunMs)
    found.push(hits.map(({ chunk }) => chunk))
  }
  return { times, found }
}

async function measure(
  name: string,
  open: (quietMs: number) => VectorStore,
  isIndexed: (list: string) => Promise<boolean>,
  made: Made,
): Promise<Figures> {
  const list = 'k1_v1'
  let store = open(3_600_000)
  let table = await store.table(list, made.dimensions)
  const begunMs = performance.now()
  for (let from = 0; from < made.rows.length; from += rowsAtOnce)
    await table.add(made.rows.slice(from, from + rowsAtOnce))
  const writeMs = performance.now() - begunMs
  await table.compact()
  await timed(table, made.queries.slice(0, 20))
  const exact = await timed(table, made.queries)
  await store.close()

  store = open(0)
  table = await store.table(list, made.dimensions)
  const indexMs = performance.now()
  await table.search(made.queries[0] ?? new Float32Array(made.dimensions), 1)
  while (!(await isIndexed(list))) {
    if (performance.now() - indexMs > indexWaitMs) throw new Error(`no index of ${name} after 15 minutes`)
    await new Promise((done) => setTimeout(done, 100))
  }
  const indexS = (performance.now() - indexMs) / 1_000
  await store.close()
  store = open(3_600_000)
  table = await store.table(list, made.dimensions)
  await timed(table, made.queries.slice(0, 20))
  const indexed = await timed(table, made.queries)
  const documents = Math.ceil(made.rows.length / chunksADocument)
  const some = (share: number) =>
    Array.from({ length: Math.ceil(documents * share) }, (_, at) => 1 + Math.floor(at / share))
  const few = await timed(table, made.queries, some(fewShare))
  const many = await timed(table, made.queries, some(manyShare).slice(0, 5_000))
  const moreMs = performance.now()
  for (let from = 0; from < made.more.length; from += rowsAtOnce)
    await table.add(made.more.slice(from, from + rowsAtOnce))
  const laterMs = performance.now() - moreMs
  const withLater = await timed(table, made.queries)
  const recall = (found: number[][], nearest: readonly Set<number>[]) => {
    const hit = found.map((chunks, at) => chunks.filter((chunk) => nearest[at]?.has(chunk)).length / depth)
    return hit.reduce((sum, share) => sum + share, 0) / hit.length
  }
  const short = (found: number[][]) => found.filter((chunks) => chunks.length < depth).length
  await store.drop(list)
  await store.close()
  return {
    store: name,
    writeRowsPerS: Math.round(made.rows.length / (writeMs / 1_000)),
    indexS,
    exact: exact.times,
    indexed: indexed.times,
    few: few.times,
    many: many.times,
    recall: recall(indexed.found, made.nearest),
    missing: `${short(indexed.found)}/${short(few.found)}/${short(many.found)}`,
    laterRowsPerS: Math.round(made.more.length / (laterMs / 1_000)),
    withLater: withLater.times,
    recallOfAll: recall(withLater.found, made.nearestOfAll),
  }
}

const url = options.postgres
if (url === undefined) throw new Error('--postgres URL is needed')
const stores: Record<
  string,
  (folder: string) => [(quietMs: number) => VectorStore, (list: string) => Promise<boolean>]
> = {
  lancedb: (folder) => [
    (quietMs) => lanceVectors({ folder, quietMs }),
    async (list) => (await readdir(join(folder, `${list}.lance`))).includes('_indices'),
  ],
  postgres: (folder) => [
    (quietMs) =>
      postgresVectors({
        database: vectorDatabase(url, schema),
        copies: lanceVectors({ folder, quietMs }),
        quietMs,
        waitMs: 600_000,
        indexedFromRows: 1,
      }),
    async () => {
      const [valid] = await execute(
        url,
        `SELECT count(*)::int FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indisvalid
         AND relnamespace = '${schema}'::regnamespace AND relname LIKE '%hnsw'`,
      )
      const copies = await readdir(folder).catch((): string[] => [])
      const [copy] = copies.filter((name) => name.endsWith('.lance'))
      return valid === 1 || (copy !== undefined && (await readdir(join(folder, copy))).includes('_indices'))
    },
  ],
}
const embedders: Record<string, () => Promise<Embedder>> = {
  static: async () => staticEmbedder(await shippedTable()),
  lexical: async () => lexicalEmbedder(),
}

console.log(
  `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`,
)
console.log(`${(await execute(url, 'SELECT version()')).join()}`)
console.log(
  '| Rows | Embedder | Store | rows/s written | index s | exact p50 | p99 | indexed p50 | p99 | 1 % p50 | p99 | 50 % p50 | p99 | recall@60 | short | rows/s later | p50 | p99 | recall@60 |',
)
console.log(`|${'---|'.repeat(19)}`)
try {
  for (const count of options.rows.split(',').map(Number)) {
    const texts = await pieces(count + Number(options.more))
    for (const embedder of options.embedders.split(',')) {
      const made = await make((await embedders[embedder]?.()) ?? lexicalEmbedder(), texts, count)
      for (const name of options.stores.split(',')) {
        const folder = join(tmpdir(), `agentserve-bench-vectors-${process.pid}-${name}-${embedder}-${count}`)
        const opening = stores[name]
        if (opening === undefined) throw new Error(`--stores: no ${name}`)
        try {
          const found = await measure(name, ...opening(folder), made)
          const ms = (times: number[]) => `${percentile(times, 0.5)} | ${percentile(times, 0.99)}`
          const times = [found.exact, found.indexed, found.few, found.many].map(ms).join(' | ')
          console.log(
            `| ${count} | ${embedder} | ${name} | ${found.writeRowsPerS} | ${found.indexS.toFixed(1)} | ${times} | ${found.recall.toFixed(3)} | ${found.missing} | ${found.laterRowsPerS} | ${ms(found.withLater)} | ${found.recallOfAll.toFixed(3)} |`,
          )
        } finally {
          await rm(folder, { recursive: true, force: true })
        }
      }
    }
  }
} finally {
  await execute(url, `DROP SCHEMA IF EXISTS ${schema} CASCADE`)
}
