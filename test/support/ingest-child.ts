import { composeKnowledge } from './knowledge.ts'

/** Ingests documents of many sizes into the folder it is told, for ever, and writes a line for each that was acknowledged. */
const [folder = '', from = '0'] = process.argv.slice(2)
const knowledge = composeKnowledge(folder)
await knowledge.open()
for (let at = Number(from); ; at++) {
  const sources = [`doc-${at % 7}`, `big-${at % 2}`]
  await Promise.all(
    sources.map(async (source) => {
      const words = source.startsWith('big') ? 6_000 : 300
      const content = Array.from({ length: words }, (_, word) => `version${at} ${source} word${word}.`).join(' ')
      const { chunk_count } = await knowledge.ingest({ content, source, chunk_size: 300, chunker_type: 'sentence' })
      process.stdout.write(`${JSON.stringify({ source, at, chunk_count })}\n`)
    }),
  )
}
