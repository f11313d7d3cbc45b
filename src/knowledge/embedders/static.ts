import { readFile } from 'node:fs/promises'
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../core/error.ts'
import type { Embedder, Embedding } from '../../core/knowledge/drivers.ts'
import { normalised } from './lexical.ts'
import { readTable, type StaticTable } from './static-table.ts'
import { tokenWords } from './static-tokens.ts'

/** Another table needs another name: vectors of different tables can't be compared. */
export const staticEmbedding: Embedding = { provider: 'static', model: 'docs-en-1', dimensions: 128 }

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

/** The sum of the vectors of a text's tokens, each by the square root of its count; of length 1. */
export function textEmbedder({ tokens, dimensions, scales, values }: StaticTable): (text: string) => Float32Array {
  const counts = new Uint32Array(scales.length)
  return (text) => {
    const used: number[] = []
    for (const token of tokens.of(text)) {
      if (counts[token] === 0) used.push(token)
      counts[token] = (counts[token] as number) + 1
    }
    const sum = new Float32Array(dimensions)
    for (const token of used) {
      addToken(sum, values, token, Math.sqrt(counts[token] as number) * (scales[token] as number))
      counts[token] = 0
    }
    return normalised(sum)
  }
}

function addToken(sum: Float32Array, values: Int8Array, token: number, weight: number): void {
  const from = token * sum.length
  for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] as number) + weight * (values[from + at] as number)
}

/**
 * A table of vectors of English words and their pieces, learned from documentation. Vectors of texts never change; the
 * words of a query are weighted by their rarity in the collection.
 */
export function staticEmbedder(table: StaticTable): Embedder {
  const embedText = textEmbedder(table)
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
      const sum = new Float32Array(table.dimensions)
      for (const [word, count] of counts) {
        const rarity = Math.log(1 + known.chunks / ((known.words.get(word) ?? 0) + 0.5))
        for (const token of table.tokens.of(word))
          addToken(sum, table.values, token, Math.sqrt(count) * rarity * (table.scales[token] as number))
      }
      return normalised(sum)
    },
    close: async () => {},
  }
}
