import { shippedTable, staticEmbedder } from '../../src/knowledge/embedders/static.ts'

// Prints as JSON what the first use of the table takes in a process that has not used it.
const collect = () => (globalThis as { gc?: () => void }).gc?.()
collect()
const before = process.memoryUsage.rss()
const begin = performance.now()
const embedder = staticEmbedder(await shippedTable())
await embedder.embedTexts(['How large may a request be?'])
const firstUseMs = performance.now() - begin
collect()
console.log(JSON.stringify({ firstUseMs, rssMb: (process.memoryUsage.rss() - before) / 1e6 }))
