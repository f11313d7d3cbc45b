import { type Row, rarity } from './rows.ts'

export interface Figures {
  questions: number
  bm25: number
  table: number
  /** Both, as a weighted sum of scaled scores. */
  both: number
}

const chunkTokens = 190
const chunkStep = 170
const deepest = 10
const asks = /\?|^(how|why|what|when|where|can|is|does|do|should) /i

/**
 * Mean reciprocal rank of a section when its heading is asked for, among pieces without headings of all sections of a
 * source. The table is quantised as it is shipped.
 */
export function evaluate(
  rows: readonly Row[],
  table: Float32Array,
  dimensions: number,
  vocabularySize: number,
): Figures {
  const chunks: { tokens: Int32Array; row: number }[] = []
  const uses = new Map<string, number>()
  for (const { heading } of rows) uses.set(heading.join(), (uses.get(heading.join()) ?? 0) + 1)
  const questions: { query: number[]; row: number }[] = []
  for (const [row, { body, heading, headingText }] of rows.entries()) {
    const tokens = body.filter((token) => token > 0)
    for (let from = 0; from < Math.max(1, tokens.length - 20); from += chunkStep)
      chunks.push({ tokens: tokens.subarray(from, from + chunkTokens), row })
    const isUnique = (uses.get(heading.join()) ?? 0) < 3
    if (isUnique && (heading.length >= 4 || asks.test(headingText))) questions.push({ query: [...heading], row })
  }
  const idf = rarity(
    chunks.map(({ tokens }) => tokens),
    vocabularySize,
  )
  const vectorOf = (tokens: Iterable<number>, weigh: (token: number) => number) => {
    const counts = new Map<number, number>()
    for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1)
    const sum = new Float64Array(dimensions)
    for (const [token, count] of counts) {
      const weight = Math.sqrt(count) * weigh(token)
      for (let at = 0; at < dimensions; at++)
        sum[at] = (sum[at] as number) + weight * (table[token * dimensions + at] as number)
    }
    const length = Math.hypot(...sum) || 1
    return sum.map((value) => value / length)
  }
  const vectors = chunks.map(({ tokens }) => vectorOf(tokens, () => 1))
  const meanLength = chunks.reduce((sum, { tokens }) => sum + tokens.length, 0) / chunks.length
  const counted = chunks.map(({ tokens }) => {
    const counts = new Map<number, number>()
    for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1)
    return { counts, norm: 1.2 * (0.25 + (0.75 * tokens.length) / meanLength) }
  })
  let bm25 = 0
  let alone = 0
  let both = 0
  for (const { query, row } of questions) {
    const asked = vectorOf(query, (token) => idf[token] ?? 0)
    const words = counted.map(({ counts, norm }) => {
      let score = 0
      for (const token of query) {
        const count = counts.get(token) ?? 0
        score += ((idf[token] ?? 0) * count * 2.2) / (count + norm)
      }
      return score
    })
    const cosines = vectors.map((vector) => vector.reduce((sum, value, at) => sum + value * (asked[at] as number), 0))
    const [scaledWords, scaledCosines] = [scaled(words), scaled(cosines)]
    const rank = (scores: readonly number[]) => reciprocalRank(scores, chunks, row)
    bm25 += rank(words)
    alone += rank(cosines)
    both += rank(scaledWords.map((score, at) => 0.5 * score + 0.5 * (scaledCosines[at] as number)))
  }
  const count = questions.length
  return { questions: count, bm25: bm25 / count, table: alone / count, both: both / count }
}

function scaled(scores: readonly number[]): number[] {
  const highest = scores.reduce((most, score) => Math.max(most, score), 0)
  return scores.map((score) => (highest > 0 ? Math.max(0, score) / highest : 0))
}

/** The rank of the best piece of the row among the best pieces of all rows. */
function reciprocalRank(scores: readonly number[], chunks: readonly { row: number }[], row: number): number {
  const best = new Map<number, number>()
  for (const [at, { row: of }] of chunks.entries())
    best.set(of, Math.max(best.get(of) ?? Number.NEGATIVE_INFINITY, scores[at] as number))
  const own = best.get(row) ?? 0
  let rank = 1
  for (const score of best.values()) if (score > own) rank++
  return rank <= deepest ? 1 / rank : 0
}
