import { setImmediate as yieldToLoop } from 'node:timers/promises'
import type { Embedder, Embedding, TermFrequencies } from '../../core/knowledge/drivers.ts'
import { hashedList } from '../../core/knowledge/lists.ts'
import { queryWordsOf } from '../../core/text/query-words.ts'
import { trigramsOf } from '../../core/text/terms.ts'
import { type Counted, createTextWords } from '../words/text-words.ts'
import { createVocabulary, type Vocabulary } from '../words/vocabulary.ts'
import { createFeatureSums, eachFeature, placeBits, putFeature } from './lexical-features.ts'

export const lexicalEmbedding: Embedding = {
  provider: hashedList,
  model: 'hashed-ngrams-1',
  dimensions: 1 << placeBits,
}

const textsPerTurn = 32

/**
 * Words and their runs of 3 to 5 characters, hashed into a vector, weighted by the square root of their counts. Vectors
 * of texts never change; the terms of a query are weighted by their rarity in the collection.
 */
export function lexicalEmbedder(): Embedder {
  const vocabulary = createVocabulary()
  const read = createTextWords(vocabulary, { writes: false })
  const embedWords = wordsEmbedder(vocabulary)
  return {
    embedding: lexicalEmbedding,
    async embedTexts(texts, signal) {
      const vectors: Float32Array[] = []
      for (const text of texts) {
        read.begin()
        read.add(text)
        vectors.push(embedWords(read.words()))
        if (vectors.length % textsPerTurn === 0) await yieldToLoop(undefined, { signal })
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

/** Embeds texts whose words have numbers in the vocabulary; `vector`: into this one. */
export function wordsEmbedder(vocabulary: Vocabulary): (words: Counted, vector?: Float32Array) => Float32Array {
  const sums = createFeatureSums(vocabulary)
  return (words, vector = new Float32Array(lexicalEmbedding.dimensions)) => {
    vector.fill(0)
    sums.addTo(vector, words)
    return normalised(vector)
  }
}

function embedWeighted(words: readonly string[], known: TermFrequencies): Float32Array {
  const rarity = (chunks: number) => Math.log(1 + known.chunks / (1 + chunks))
  const vector = new Float32Array(lexicalEmbedding.dimensions)
  for (const word of words) {
    eachFeature(word, (hash, from, length) => {
      const chunks = length === undefined ? (known.words.get(word) ?? 0) : rarest(word, from, length, known.trigrams)
      putFeature(vector, hash, rarity(chunks))
    })
  }
  return normalised(vector)
}

/** A run of characters is at most as frequent as its rarest trigram. */
function rarest(word: string, from: number, length: number, trigrams: ReadonlyMap<string, number>): number {
  const padded = ` ${word} `
  let least = Number.MAX_SAFE_INTEGER
  for (let at = from; at + 3 <= from + length; at++)
    least = Math.min(least, trigrams.get(padded.slice(at, at + 3)) ?? 0)
  return least
}

/** Scales to length 1; a text without words stays a zero vector, which is similar to nothing. */
export function normalised(vector: Float32Array): Float32Array {
  let sum = 0
  for (let index = 0; index < vector.length; index++) sum += (vector[index] as number) ** 2
  const scale = sum > 0 ? 1 / Math.sqrt(sum) : 0
  for (let index = 0; index < vector.length; index++) vector[index] = (vector[index] as number) * scale
  return vector
}
