import { chunkRows, type NewChunk, type StoredChunk } from '../../core/knowledge/chunk.ts'
import type { NewChunks } from '../../core/knowledge/document-store.ts'
import { createTextWords } from './text-words.ts'
import { createVocabulary } from './vocabulary.ts'

/** Chunks of one document that come from another store, as a document store takes them. */
export function createStoredChunks(): (
  chunks: readonly Omit<StoredChunk, 'key'>[],
) => Omit<NewChunks, 'generation' | 'firstChunk'> {
  const vocabulary = createVocabulary()
  const text = createTextWords(vocabulary)
  return (chunks) => {
    const newWords = new Set<string>()
    const made = chunks.map((chunk): NewChunk => {
      text.begin()
      const headingWordsBytes = text.add(chunk.headingPath.join(' '))
      const wordsBytes = text.add(chunk.content)
      const words = text.words()
      for (let at = 0; at < words.length; at++) newWords.add(vocabulary.wordOf(words.numbers[at] as number))
      return { ...chunk, headingWordsBytes, wordsBytes }
    })
    return { rows: chunkRows(made, text.take()), newWords: [...newWords] }
  }
}
