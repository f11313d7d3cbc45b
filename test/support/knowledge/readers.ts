import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadText } from '../../../src/core/knowledge/drivers.ts'
import { chunkers } from '../../../src/knowledge/chunkers/all.ts'
import { chunkDocument } from '../../../src/knowledge/chunkers/document.ts'

const folder = join(import.meta.dirname, '../../fixtures/readers')

/** A file that a usual program has made; the README of its folder says how. */
export function readerFixture(path: string): Buffer {
  return readFileSync(join(folder, path))
}

/** What a citation of each word shows: the page and the headings of the first chunk that has it. */
export function placesOf(read: ReadText, words: readonly string[], size = 200): unknown[] {
  const chunker = chunkers.find(({ name }) => name === read.chunker)
  if (!chunker) throw new Error(`there is no chunker ${read.chunker}`)
  const spans = [...chunkDocument(read, chunker, { size, overlap: 0 })]
  return words.map((word) => {
    const span = spans.find(({ start, end }) => read.text.slice(start, end).includes(word))
    return [...(span?.page === undefined ? [] : [span.page]), ...(span?.headingPath ?? [])]
  })
}
