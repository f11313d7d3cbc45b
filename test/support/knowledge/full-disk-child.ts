import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isAppError } from '../../../src/core/error.ts'
import { emptyDatabase } from '../empty-database.ts'
import { composeKnowledge } from './folder.ts'
import { findDamage } from './kills.ts'

/*
 * Fills the disk of the folder up to some bytes, ingests and reindexes, frees the disk, and does both again. Prints what came of
 * it.
 */
const [folder = '', left = '0'] = process.argv.slice(2)
const filler = join(folder, 'filler')
await emptyDatabase('documents', join(folder, 'knowledge/knowledge.db'))

const open = async () => {
  const knowledge = composeKnowledge(folder)
  await knowledge.open()
  return knowledge
}
const fill = async () => {
  const { bavail, bsize } = await statfs(folder)
  await writeFile(filler, Buffer.alloc(Math.max(0, bavail * bsize - Number(left))))
}
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => ({ code: 'done', message: '' }),
    (error: unknown) => ({
      code: isAppError(error) ? error.code : 'unknown',
      message: String((error as Error).message),
    }),
  )
const settings = { chunk_size: 300, chunker_type: 'sentence' } as const
const contentOf = (source: string, words: number) =>
  Array.from({ length: words }, (_, word) => `version0 ${source} word${word}.`).join(' ')
const large = { source: 'large', content: contentOf('large', 20_000), ...settings }
const many = Array.from({ length: 20 }, (_, at) => ({
  source: `many-${at}`,
  content: contentOf(`many-${at}`, 400),
  ...settings,
}))

let knowledge = await open()
await knowledge.ingest({ source: 'first', content: contentOf('first', 40), ...settings })
const found = async (query: string) =>
  (await knowledge.search({ query, limit: 50 })).results.map(({ source }) => source)
const sources = async () => (await knowledge.listDocuments({}, { limit: 100 })).items.map(({ source }) => source).sort()

await fill()
const full = {
  large: await outcome(knowledge.ingest(large)),
  many: await outcome(knowledge.ingestMany(many)),
  reindex: await outcome(knowledge.reindex()),
  check: await outcome(knowledge.check()),
  /** Of what was not acknowledged, in lists and results; and what was there before. */
  shown: await sources(),
  foundLarge: (await found('large')).includes('large'),
  foundFirst: (await found('first')).includes('first'),
}
await rm(filler)
const free = {
  large: await outcome(knowledge.ingest(large)),
  many: await outcome(knowledge.ingestMany(many)),
  check: await outcome(knowledge.check()),
  foundLarge: (await found('large')).includes('large'),
}
await knowledge.close()
const damage = await findDamage(
  { folder, open, remove: async () => {} },
  ['first', 'large', ...many.map(({ source }) => source)].map((source) => ({ source, at: 0, chunk_count: 0 })),
)
knowledge = await open()
const again = { reindex: await outcome(knowledge.reindex()), shown: await sources(), status: await knowledge.status() }
await knowledge.close()
console.log(JSON.stringify({ full, free, damage, again }))
