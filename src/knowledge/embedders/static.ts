import { readFile } from 'node:fs/promises'
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../core/error.ts'
import type { Embedder, Embedding } from '../../core/knowledge/drivers.ts'
import { tokenList } from '../../core/knowledge/lists.ts'
import { type Counted, createTextWords } from '../words/text-words.ts'
import { createVocabulary } from '../words/vocabulary.ts'
import { normalised } from './lexical.ts'
import { readTable, type StaticTable } from './static-table.ts'
import { tokenWords } from './static-tokens.ts'

/** Another table needs another name: vectors of different tables can't be compared. */
export const staticEmbedding: Embedding = { provider: tokenList, model: 'docs-en-1', dimensions: 128 }

const shippedFile = fileURLToPath(new URL('./static-table.bin', import.meta.url))
const textsPerTurn = 32

let loading: Promise<StaticTable> | undefined

/** The table that the package ships, read once. A failure is told and tried again by the next call. */
export function shippedTable(): Promise<StaticTable> {
  loading ??= loadTable(shippedFile).catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

/** Throws `unavailable` with the reason. */
export async function loadTable(file: string): Promise<StaticTable> {
  try {
    const table = readTable(await readFile(file))
    if (table.dimensions !== staticEmbedding.dimensions)
      throw new Error(`it has ${table.dimensions} dimensions instead of ${staticEmbedding.dimensions}`)
    return table
  } catch (error) {
    const { message } = error as Error
    throw new AppError(
      'unavailable',
      `The embedder 'static' can't be used: the table in ${file} can't be read (${message}). Install agentserve again.`,
      { cause: error },
    )
  }
}

/** The sum of the vectors of tokens, each by the square root of its count; of length 1. */
export function tokensEmbedder(table: StaticTable): (tokens: Counted) => Float32Array {
  const total = new Uint32Array(table.scales.length)
  const sumOf = weightedSum(table)
  return ({ length, numbers, counts }) => {
    const used: number[] = []
    for (let index = 0; index < length; index++) {
      const token = numbers[index] as number
      const before = total[token] as number
      if (before === 0) used.push(token)
      total[token] = before + (counts[index] as number)
    }
    const vector = sumOf(used, (token) => Math.sqrt(total[token] as number))
    for (const token of used) total[token] = 0
    return vector
  }
}

/** Embeds a text by its tokens. */
export function textEmbedder(table: StaticTable): (text: string) => Float32Array {
  const read = createTextWords(createVocabulary(), { writes: false })
  const embedTokens = tokensEmbedder(table)
  return (text) => {
    read.begin()
    read.add(text)
    return embedTokens(read.tokens(table.tokens.of))
  }
}

/** Of length 1. Four tokens at a time: most of the time would go into reading and writing the sum. */
function weightedSum({ dimensions, scales, values }: StaticTable) {
  const sum = new Float64Array(dimensions)
  return (tokens: readonly number[], weigh: (token: number) => number): Float32Array => {
    sum.fill(0)
    for (let first = 0; first < tokens.length; first += 4) {
      const one = tokens[first] as number
      const two = tokens[first + 1] ?? one
      const three = tokens[first + 2] ?? one
      const four = tokens[first + 3] ?? one
      const there = tokens.length - first
      const a = weigh(one) * (scales[one] as number)
      const b = there > 1 ? weigh(two) * (scales[two] as number) : 0
      const c = there > 2 ? weigh(three) * (scales[three] as number) : 0
      const d = there > 3 ? weigh(four) * (scales[four] as number) : 0
      for (let at = 0; at < dimensions; at++)
        sum[at] =
          (sum[at] as number) +
          a * (values[one * dimensions + at] as number) +
          b * (values[two * dimensions + at] as number) +
          c * (values[three * dimensions + at] as number) +
          d * (values[four * dimensions + at] as number)
    }
    return normalised(new Float32Array(sum))
  }
}

/**
 * A table of vectors of English words and their pieces, learned from documentation. Vectors of texts never change; the
 * words of a query are weighted by their rarity in the collection.
 */
export function staticEmbedder(table: StaticTable): Embedder {
  const embedText = textEmbedder(table)
  const sumOf = weightedSum(table)
  return {
    embedding: staticEmbedding,
    async embedTexts(texts, signal) {
      const vectors: Float32Array[] = []
      for (const text of texts) {
        vectors.push(embedText(text))
        if (vectors.length % textsPerTurn === 0) await yieldToLoop(undefined, { signal })
      }
      return vectors
    },
    async embedQuery(query, frequencies) {
      const counts = new Map<string, number>()
      for (const word of tokenWords(query)) counts.set(word, (counts.get(word) ?? 0) + 1)
      const known = await frequencies([...counts.keys()], [])
      const weights = new Map<number, number>()
      for (const [word, count] of counts) {
        const rarity = Math.log(1 + known.chunks / ((known.words.get(word) ?? 0) + 0.5))
        for (const token of table.tokens.ofWord(word))
          weights.set(token, (weights.get(token) ?? 0) + Math.sqrt(count) * rarity)
      }
      return sumOf([...weights.keys()], (token) => weights.get(token) ?? 0)
    },
    close: async () => {},
  }
}
