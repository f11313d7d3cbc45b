import { flushCompileCache } from 'node:module'
import { composeKnowledge } from './folder.ts'

/** Ingests documents of many sizes, alone and many at once, into the folder it is told, for ever, and tells what was acknowledged. */
const [folder = '', from = '0'] = process.argv.slice(2)
flushCompileCache()
const knowledge = composeKnowledge(folder)
await knowledge.open()
const contentOf = (source: string, at: number, words: number) =>
  Array.from({ length: words }, (_, word) => `version${at} ${source} word${word}.`).join(' ')
const settings = { chunk_size: 300, chunker_type: 'sentence' } as const
const tell = (source: string, at: number, chunk_count: number) =>
  process.stdout.write(`${JSON.stringify({ source, at, chunk_count })}\n`)

for (let at = Number(from); ; at++) {
  const sources = [`doc-${at % 7}`, `big-${at % 2}`]
  const small = Array.from({ length: 12 }, (_, place) => `small-${place}`)
  await Promise.all([
    ...sources.map(async (source) => {
      const content = contentOf(source, at, source.startsWith('big') ? 6_000 : 300)
      tell(source, at, (await knowledge.ingest({ content, source, ...settings })).chunk_count)
    }),
    knowledge
      .ingestMany(small.map((source) => ({ source, content: contentOf(source, at, 40), ...settings })))
      .then((outcomes) => {
        for (const { source, chunk_count } of outcomes) tell(source, at, chunk_count)
      }),
  ])
}
