import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Embedder, Embedding, TermFrequencies } from '../../core/knowledge-drivers.ts'
import { queryWordsOf, trigramsOf, wordsOf } from '../../core/terms.ts'

export const lexicalEmbedding: Embedding = { provider: 'lexical', model: 'hashed-ngrams-1', dimensions: 1024 }

const textsATurn = 32
const mask = lexicalEmbedding.dimensions - 1
const wordSeed = 0x811c9dc5
const gramSeed = 0x9dc5811c
const prime = 0x01000193

/**
 * Words and the runs of 3 to 5 characters in them, hashed into a vector; how often each occurs counts by its square
 * root. Vectors of texts never change; a query's terms are weighted by how rare they are in the collection.
 */
export function lexicalEmbedder(): Embedder {
  return {
    embedding: lexicalEmbedding,
    async embedTexts(texts, signal) {
      const vectors: Float32Array[] = []
      for (const text of texts) {
        vectors.push(embedText(text))
        if (vectors.length % textsATurn === 0) await nextTurn(undefined, { signal })
      }
      return vectors
    },
    async embedQuery(query, frequencies) {
      const words = queryWordsOf(query)
      const known = await frequencies(words, [...new Set(words.flatMap(trigramsOf))])
      return embedWeighted(words, known)
    },
    close: async () => {},
  }
}

function embedText(text: string): Float32Array {
  const tally = createTally()
  for (const word of wordsOf(text)) for (const hash of featuresOf(word)) tally.add(hash)
  const vector = new Float32Array(lexicalEmbedding.dimensions)
  tally.each((hash, count) => put(vector, hash, Math.sqrt(count)))
  return normalised(vector)
}

const remembered = new Map<string, Uint32Array>()
const maxRemembered = 20_000

/** Most words of a collection are seen again and again. */
function featuresOf(word: string): Uint32Array {
  const known = remembered.get(word)
  if (known) return known
  const hashes: number[] = []
  eachFeature(word, (hash) => hashes.push(hash))
  const features = Uint32Array.from(hashes)
  if (word.length > 64) return features
  if (remembered.size === maxRemembered) remembered.clear()
  remembered.set(word, features)
  return features
}

let slots = { hashes: new Uint32Array(1 << 14), counts: new Uint32Array(1 << 14) }

/** Counts by hash in one open-addressed table that is used again by the next text: four times as fast as a `Map`. */
function createTally() {
  const used: number[] = []
  const placeOf = (hash: number): number => {
    const last = slots.counts.length - 1
    let place = (hash ^ (hash >>> 12)) & last
    while (slots.counts[place] !== 0 && slots.hashes[place] !== hash) place = (place + 1) & last
    return place
  }
  const set = (hash: number, count: number) => {
    const place = placeOf(hash)
    if (slots.counts[place] === 0) used.push(place)
    slots.hashes[place] = hash
    slots.counts[place] = (slots.counts[place] ?? 0) + count
  }
  const clear = () => {
    for (const place of used) slots.counts[place] = 0
    used.length = 0
  }
  const grow = () => {
    const held = used.map((place) => [slots.hashes[place] ?? 0, slots.counts[place] ?? 0] as const)
    clear()
    slots = { hashes: new Uint32Array(slots.hashes.length * 4), counts: new Uint32Array(slots.counts.length * 4) }
    for (const [hash, count] of held) set(hash, count)
  }
  return {
    add(hash: number): void {
      if (used.length * 2 > slots.counts.length) grow()
      set(hash, 1)
    },
    /** Visits each hash once and empties the table. */
    each(visit: (hash: number, count: number) => void): void {
      for (const place of used) visit(slots.hashes[place] ?? 0, slots.counts[place] ?? 0)
      clear()
    },
  }
}

function embedWeighted(words: readonly string[], known: TermFrequencies): Float32Array {
  const rarity = (chunks: number) => Math.log(1 + known.chunks / (1 + chunks))
  const vector = new Float32Array(lexicalEmbedding.dimensions)
  for (const word of words) {
    eachFeature(word, (hash, from, length) => {
      const chunks = length === undefined ? (known.words.get(word) ?? 0) : rarest(word, from, length, known.trigrams)
      put(vector, hash, rarity(chunks))
    })
  }
  return normalised(vector)
}

/** A run of characters occurs at most as often as the rarest three characters in it. */
function rarest(word: string, from: number, length: number, trigrams: ReadonlyMap<string, number>): number {
  const padded = ` ${word} `
  let least = Number.MAX_SAFE_INTEGER
  for (let at = from; at + 3 <= from + length; at++)
    least = Math.min(least, trigrams.get(padded.slice(at, at + 3)) ?? 0)
  return least
}

/** The word itself (without place), then its runs with their place between the word's ends, which count as spaces. */
function eachFeature(word: string, visit: (hash: number, from: number, length: number | undefined) => void): void {
  let whole = wordSeed
  for (let at = 0; at < word.length; at++) whole = Math.imul(whole ^ word.charCodeAt(at), prime)
  visit(mixed(whole), 0, undefined)
  const padded = ` ${word} `
  for (let from = 0; from + 3 <= padded.length; from++) {
    let hash = gramSeed
    const end = Math.min(padded.length, from + 5)
    for (let at = from; at < end; at++) {
      hash = Math.imul(hash ^ padded.charCodeAt(at), prime)
      if (at >= from + 2) visit(mixed(hash), from, at - from + 1)
    }
  }
}

function mixed(hash: number): number {
  let value = hash ^ (hash >>> 16)
  value = Math.imul(value, 0x45d9f3b)
  return (value ^ (value >>> 15)) >>> 0
}

/** One bit of the hash is the sign, so that features that share a place cancel out instead of adding up. */
function put(vector: Float32Array, hash: number, weight: number): void {
  const place = hash & mask
  vector[place] = (vector[place] ?? 0) + (hash & 0x80000000 ? -weight : weight)
}

/** Scaled to length 1; a text without words stays a vector of zeros, which is like nothing. */
export function normalised(vector: Float32Array): Float32Array {
  let sum = 0
  for (const value of vector) sum += value * value
  const scale = sum > 0 ? 1 / Math.sqrt(sum) : 0
  for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] ?? 0) * scale
  return vector
}
