import { type Collection, type DocumentStore, SearchGivenUp } from '../../core/knowledge/document-store.ts'
import { maxSearchWords } from '../../core/knowledge/limits.ts'
import { editDistance } from '../../core/text/edit-distance.ts'
import { queryWordsOf } from '../../core/text/query-words.ts'
import type { Frequencies } from './frequencies.ts'

const similarWords = 12
/** One letter of a shorter word makes another word. */
const minRespelt = 5

/** Words of the collection that share trigrams with a word. */
export type SimilarWords = (word: string) => Promise<string[]>

/** For one search, whose parts ask for the same words side by side: each is looked up once. */
export function similarOnce(documents: Pick<DocumentStore, 'similarWords'>, { key }: Collection): SimilarWords {
  const asked = new Map<string, Promise<string[]>>()
  return (word) => {
    const found = asked.get(word) ?? documents.similarWords(key, word, similarWords)
    asked.set(word, found)
    return found
  }
}

/**
 * What the misspelt words of a query are meant to be: known words that begin with the same letter and are one slip away. Nothing
 * when the database gives them up.
 */
export async function respeltWords(
  documents: Pick<DocumentStore, 'inflections'>,
  { key }: Collection,
  query: string,
  { frequencies, similar }: { frequencies: Frequencies; similar: SimilarWords },
): Promise<string[]> {
  const asked = queryWordsOf(query).slice(0, maxSearchWords)
  try {
    const { words } = await frequencies(asked, [])
    const unseen = asked.filter((word) => word.length >= minRespelt && (words.get(word) ?? 0) === 0)
    if (unseen.length === 0) return []
    const inflections = await documents.inflections(key, unseen)
    const unknown = unseen.filter((word) => (inflections.get(word) ?? []).length === 0)
    const isMeant = (word: string) => (other: string) =>
      other.length >= minRespelt && other[0] === word[0] && editDistance(word, other) === 1
    const found = await Promise.all(unknown.map(async (word) => (await similar(word)).find(isMeant(word)) ?? []))
    return found.flat()
  } catch (error) {
    if (error instanceof SearchGivenUp) return []
    throw error
  }
}
