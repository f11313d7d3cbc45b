import { parseArgs } from 'node:util'
import { type SearchHit, searchModes } from '../../src/core/knowledge/knowledge.ts'
import { lanceVectors } from '../../src/knowledge/vectors/lancedb.ts'
import { memoryVectors } from '../../src/knowledge/vectors/memory.ts'
import type { OpenableKnowledge } from '../../src/service/knowledge/knowledge.ts'
import { knowledgeDatabase } from '../../src/store/documents/postgres/database.ts'
import { postgresDocuments } from '../../src/store/documents/postgres/store.ts'
import { postgresVectors } from '../../src/store/vectors/vectors.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../test/support/knowledge/folder.ts'
import { execute } from '../../test/support/postgres/places.ts'
import { lay, layouts, plain } from './layouts.ts'
import { questionSets } from './sets.ts'

/*
 * The same questions to a knowledge base in SQLite and LanceDB and to one in Postgres: whether they find the same.
 * `node bench/retrieval/backends.ts --postgres URL`; `--differences` shows each. With pgvector in the database or without.
 */

const { values: options } = parseArgs({
  options: { postgres: { type: 'string' }, differences: { type: 'boolean', default: false } },
})
const { postgres: url } = options
if (url === undefined) throw new Error('--postgres URL is needed')
const depth = 10
const schema = `bench_backends_${process.pid}`
/** Scores are rounded differently. */
const near = 2e-3

function openShared(place: KnowledgeFolder, address: string): Promise<OpenableKnowledge> {
  const database = knowledgeDatabase({ url: address, schema })
  return place.open({
    documents: postgresDocuments(database),
    vectors: postgresVectors({ database, copies: memoryVectors(), waitMs: 60_000 }),
  })
}

const place = (hit: SearchHit) => `${hit.source}:${hit.line_start}`
const reciprocal = (rank: number) => (rank === 0 ? 0 : 1 / rank)

interface Counts {
  questions: number
  sameOrder: number
  sameTen: number
  /** Of those with another order: only passages with nearly equal scores have changed places. */
  ties: number
  mrr: [number, number]
}

const folder = await knowledgeFolder()
const counts: Record<string, Counts> = {}
try {
  const local = await folder.open({ vectors: lanceVectors({ folder: `${folder.folder}/lance` }) })
  const shared = await openShared(folder, url)
  for (const set of questionSets) {
    const texts = await set.texts()
    for (const layout of layouts) {
      const collection = `${set.name}-${layout}`
      const { documents, questions } = lay(layout, texts, set.asked)
      const items = documents.map((document) => ({ ...document, name: document.source, collection }))
      for (const knowledge of [local, shared]) await knowledge.ingestMany(items)
      for (const mode of searchModes) {
        const count = counts[mode] ?? { questions: 0, sameOrder: 0, sameTen: 0, ties: 0, mrr: [0, 0] }
        counts[mode] = count
        for (const { question, source, answer } of questions) {
          const asked = { query: question, mode, limit: depth, collection }
          const [one, other] = [(await local.search(asked)).results, (await shared.search(asked)).results]
          const [places, others] = [one.map(place), other.map(place)]
          const ranks = [one, other].map(
            (hits) => hits.findIndex((hit) => hit.source === source && plain(hit.content).includes(plain(answer))) + 1,
          )
          count.questions++
          count.mrr = [count.mrr[0] + reciprocal(ranks[0] ?? 0), count.mrr[1] + reciprocal(ranks[1] ?? 0)]
          const isSame = places.join('\n') === others.join('\n')
          const isSameTen = places.toSorted().join('\n') === others.toSorted().join('\n')
          const isTie = one.every((hit, at) => Math.abs(hit.score - (other[at]?.score ?? 0)) < near)
          if (isSame) count.sameOrder++
          if (isSameTen) count.sameTen++
          if (!isSame && isTie) count.ties++
          if (!isSame && options.differences) {
            const at = places.findIndex((each, index) => each !== others[index])
            console.log(
              `${collection} ${mode} at ${at + 1}: ${places[at]} (${one[at]?.score}) | ${others[at]} (${other[at]?.score}) — ${question}`,
            )
          }
        }
      }
    }
  }
} finally {
  await folder.remove()
  await execute(url, `DROP SCHEMA IF EXISTS ${schema} CASCADE`)
}
console.log(
  (
    await execute(
      url,
      "SELECT version() || ', pgvector ' || coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'), 'is not there')",
    )
  ).join(),
)
console.log(
  '| Mode | Questions | Same ten in the same order | Same ten | Other order by nearly equal scores alone | MRR@10 SQLite, LanceDB | Postgres |',
)
console.log('|---|---|---|---|---|---|---|')
for (const [mode, { questions, sameOrder, sameTen, ties, mrr }] of Object.entries(counts))
  console.log(
    `| ${mode} | ${questions} | ${sameOrder} | ${sameTen} | ${ties} | ${mrr.map((sum) => (sum / questions).toFixed(4)).join(' | ')} |`,
  )
