import type { TermFrequencies } from '../../core/knowledge/drivers.ts'

const maxRemembered = 50_000
const sizeMs = 5_000

export interface CollectionSize {
  chunks: number
  /** Distinct words. */
  terms: number
}

/** Where the counts come from, in `From`, such as a connection. */
export interface Counting<From, Size extends CollectionSize> {
  size(from: From, collection: number): Promise<Size>
  /** The number of chunks by word, and of words by trigram. Absent ones may be left out. */
  counts(from: From, collection: number, words: readonly string[], trigrams: readonly string[]): Promise<Counts>
  /** Counts the writes of this process, if no other writes. */
  writes?: (() => number) | undefined
}

export interface Counts {
  words: Iterable<readonly [string, number]>
  trigrams: Iterable<readonly [string, number]>
}

interface Remembered<Size> {
  size: Size
  words: Map<string, number>
  trigrams: Map<string, number>
}

/** How many chunks contain each term; cached until a twentieth changes, since a count reads the term's whole list. */
export function createFrequencies<From, Size extends CollectionSize>({ size, counts, writes }: Counting<From, Size>) {
  const remembered = new Map<number, Remembered<Size>>()
  const sizes = new Map<number, { size: Size; writes: number | undefined; askedMs: number }>()

  /** Counting all documents takes longer than a search: during writes a slightly old size is good enough. */
  const sizeOf = async (from: From, collection: number): Promise<Size> => {
    const known = sizes.get(collection)
    const asked = { writes: writes?.(), askedMs: performance.now() }
    const unchanged = writes !== undefined && asked.writes === known?.writes
    if (known && known.size.chunks > 0 && (unchanged || asked.askedMs - known.askedMs < sizeMs)) return known.size
    const now = await size(from, collection)
    sizes.set(collection, { size: now, ...asked })
    return now
  }
  const remember = async (from: From, collection: number): Promise<Remembered<Size>> => {
    const now = await sizeOf(from, collection)
    const known = remembered.get(collection)
    const fresh =
      known !== undefined &&
      Math.abs(now.chunks - known.size.chunks) * 20 <= known.size.chunks &&
      known.words.size + known.trigrams.size < maxRemembered
    if (fresh) return known
    const made: Remembered<Size> = { size: now, words: new Map(), trigrams: new Map() }
    remembered.set(collection, made)
    return made
  }
  const lookUp = async (from: From, collection: number, words: readonly string[], trigrams: readonly string[]) => {
    const known = await remember(from, collection)
    const newWords = words.filter((word) => !known.words.has(word))
    const newTrigrams = trigrams.filter((trigram) => !known.trigrams.has(trigram))
    if (newWords.length + newTrigrams.length === 0) return known
    const found = await counts(from, collection, newWords, newTrigrams)
    for (const [word, count] of found.words) known.words.set(word, count)
    for (const [trigram, count] of found.trigrams) known.trigrams.set(trigram, count)
    return known
  }
  return {
    /** The size that the counts are of, and the counts of those words that are there. */
    async known(from: From, collection: number, words: readonly string[]) {
      const { size: now, words: counted } = await lookUp(from, collection, words, [])
      return { size: now, words: countsThere(words, counted, 1) }
    },
    async frequencies(
      from: From,
      collection: number,
      words: readonly string[],
      trigrams: readonly string[],
    ): Promise<TermFrequencies> {
      const known = await lookUp(from, collection, words, trigrams)
      const { chunks, terms } = known.size
      return {
        chunks,
        words: countsThere(words, known.words, 1),
        trigrams: countsThere(trigrams, known.trigrams, chunks / terms),
      }
    },
  }
}

/** Absent terms are not cached: the next document may contain them. */
function countsThere(terms: readonly string[], known: ReadonlyMap<string, number>, share: number): Map<string, number> {
  const there = new Map<string, number>()
  for (const term of terms) {
    const count = known.get(term)
    if (count !== undefined) there.set(term, Math.ceil(count * share))
  }
  return there
}
