import { flushCompileCache } from 'node:module'
import { scanFile } from '../../../src/sources/file-content.ts'
import { composeKnowledge } from './folder.ts'

/** Ingests the file as `long.txt` into the folder, and tells each piece of it that is read. */
const [folder = '', path = ''] = process.argv.slice(2)
flushCompileCache()
const knowledge = composeKnowledge(folder)
await knowledge.open()
const file = await scanFile(path, new AbortController().signal)
async function* pieces() {
  for await (const piece of file.pieces()) {
    process.stdout.write(`${JSON.stringify({ source: 'long.txt', at: 0, chunk_count: piece.length })}\n`)
    yield piece
  }
}
await knowledge.ingestFile({ source: 'long.txt', name: 'long.txt', file: { ...file, pieces }, chunk_size: 500 })
await knowledge.close()
