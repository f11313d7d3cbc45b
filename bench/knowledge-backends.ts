import { readdir } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { lanceVectors } from '../src/knowledge/vectors/lancedb.ts'
import type { OpenableKnowledge } from '../src/service/knowledge/knowledge.ts'
import { knowledgeDatabase } from '../src/store/documents/postgres/database.ts'
import { postgresDocuments } from '../src/store/documents/postgres/store.ts'
import { postgresVectors } from '../src/store/vectors/vectors.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../test/support/knowledge/folder.ts'
import { execute } from '../test/support/postgres/places.ts'
import { markdownFile, seeded, vocabulary } from './knowledge-corpus.ts'
import { questions } from './knowledge-search.ts'
import { percentile } from './percentile.ts'

/*
 * A knowledge base in one process, in SQLite and LanceDB or in Postgres: ingestion with all vectors, then searches by one
 * client. With pgvector where the database has it, else with copies in LanceDB.
 *
 *   node bench/knowledge-backends.ts --postgres URL [--chunks 34000,100000] [--stores sqlite,postgres] [--searches 300]
 */

const { values: options } = parseArgs({
  options: {
    postgres: { type: 'string' },
    chunks: { type: 'string', default: '34000' },
    stores: { type: 'string', default: 'sqlite,postgres' },
    searches: { type: 'string', default: '300' },
  },
})
const { postgres: url } = options
if (url === undefined) throw new Error('--postgres URL is needed')
const schema = `bench_knowledge_${process.pid}`
const chunkSize = 1_000
const chunksADocument = 10
const documentsAtOnce = 50
const indexedFrom = 15_000
/** Nobody having written for 5 s, indexes are built and files joined. */
const settledMs = 8_000
const indexWaitMs = 20 * 60_000
const warmUp = 20
const words = 60_000

async function ingest(knowledge: OpenableKnowledge, chunks: number): Promise<number> {
  const random = seeded(11)
  const word = vocabulary(words, random)
  let busyMs = 0
  for (let at = 0; at < chunks / chunksADocument; at += documentsAtOnce) {
    const documents = Array.from({ length: Math.min(documentsAtOnce, chunks / chunksADocument - at) }, (_, place) => ({
      source: `page-${at + place}.md`,
      name: `page-${at + place}.md`,
      content: markdownFile(at + place, chunkSize * chunksADocument, word, random),
      chunker_type: 'character' as const,
      chunk_size: chunkSize,
      chunk_overlap: 0,
    }))
    const begunMs = performance.now()
    await knowledge.ingestMany(documents)
    busyMs += performance.now() - begunMs
  }
  return (chunks * chunkSize) / 1e6 / (busyMs / 1_000)
}

async function searched(knowledge: OpenableKnowledge, mode: 'hybrid' | 'vector' | 'keyword'): Promise<string> {
  const times: number[] = []
  for (const [at, query] of questions(warmUp + Number(options.searches)).entries()) {
    const begunMs = performance.now()
    await knowledge.search({ query, mode, limit: 10 })
    if (at >= warmUp) times.push(performance.now() - begunMs)
  }
  return `${percentile(times, 0.5)} | ${percentile(times, 0.99)}`
}

const indexesOf = async (address: string) => {
  const [valid] = await execute(
    address,
    `SELECT count(*)::int FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indisvalid
     AND relnamespace = '${schema}'::regnamespace AND relname LIKE '%hnsw'`,
  )
  return Number(valid)
}
const hasPgvector = async (address: string) => {
  const [form] = await execute(address, `SELECT form FROM ${schema}.vector_list LIMIT 1`)
  return form === 'halfvec'
}

/** Opens a knowledge base, and says when its indexes are there. */
const stores: Record<string, (place: KnowledgeFolder) => Promise<[OpenableKnowledge, () => Promise<boolean>]>> = {
  sqlite: async (place) => {
    const folder = join(place.folder, 'lance')
    const isIndexed = async () => {
      const tables = await readdir(folder)
      const files = await Promise.all(
        tables.filter((name) => name.endsWith('.lance')).map((name) => readdir(join(folder, name))),
      )
      return files.every((names) => names.includes('_indices'))
    }
    return [await place.open({ vectors: lanceVectors({ folder }) }), isIndexed]
  },
  postgres: async (place) => {
    const database = knowledgeDatabase({ url, schema })
    const copies = lanceVectors({ folder: join(place.folder, 'copies') })
    const knowledge = await place.open({
      documents: postgresDocuments(database),
      vectors: postgresVectors({ database, copies, waitMs: 600_000 }),
    })
    return [knowledge, async () => !(await hasPgvector(url)) || (await indexesOf(url)) === 2]
  },
}

console.log(
  `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`,
)
console.log((await execute(url, 'SELECT version()')).join())
console.log(
  '| Chunks | Store | MB/s | index s | hybrid p50 | p99 | vector p50 | p99 | keyword p50 | p99 |\n|---|---|---|---|---|---|---|---|---|---|',
)
for (const chunks of options.chunks.split(',').map(Number)) {
  for (const name of options.stores.split(',')) {
    const open = stores[name]
    if (open === undefined) throw new Error(`--stores: no ${name}`)
    const place = await knowledgeFolder()
    try {
      const [knowledge, isIndexed] = await open(place)
      const megabytes = await ingest(knowledge, chunks)
      const held = (await knowledge.status()).chunks
      if (held !== chunks) throw new Error(`${held} chunks instead of ${chunks}`)
      const begunMs = performance.now()
      if (chunks >= indexedFrom)
        while (!(await isIndexed())) {
          if (performance.now() - begunMs > indexWaitMs) throw new Error('no index after 20 minutes')
          await sleep(200)
        }
      const indexS = (performance.now() - begunMs) / 1_000
      await sleep(settledMs)
      const figures = [
        await searched(knowledge, 'hybrid'),
        await searched(knowledge, 'vector'),
        await searched(knowledge, 'keyword'),
      ]
      console.log(`| ${chunks} | ${name} | ${megabytes.toFixed(2)} | ${indexS.toFixed(0)} | ${figures.join(' | ')} |`)
    } finally {
      await place.remove()
      await execute(url, `DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    }
  }
}
