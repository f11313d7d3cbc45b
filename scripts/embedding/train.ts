import type { Tokens } from '../../src/knowledge/embedders/static-tokens.ts'
import { createKernels } from './kernels.ts'
import { createRandom } from './random.ts'
import type { Group } from './rows.ts'
import { createSampling, type Pair } from './sampling.ts'

export interface TrainOptions {
  groups: readonly Group[]
  tokens: Tokens
  vocabularySize: number
  steps: number
  /** Multiples of 8. */
  dimensions: number
  batch?: number
  groupsPerBatch?: number
  seed?: number
  progress?: (step: number, loss: number) => void
}

const temperature = 0.05
const learningRate = 0.003
const warmUpSteps = 50

/** Learns a vector for each token so that the sums for a question and its answer are alike. One thread: sums keep their order. */
export function train(options: TrainOptions): Float32Array {
  const { groups, tokens, vocabularySize, steps, dimensions, batch = 1024, groupsPerBatch = 4, seed = 1 } = options
  const random = createRandom(seed)
  const sampling = createSampling(groups, tokens, random)
  const tableLength = vocabularySize * dimensions
  const kernels = createKernels(4 * (4 * tableLength + 6 * batch * dimensions + 3 * batch * batch) + 65536)
  const { buffer } = kernels.memory
  let allocated = 0
  const allocate = (length: number) => {
    const values = new Float32Array(buffer, allocated, length)
    allocated += 4 * length
    return values
  }
  const [table, gradient, mean, square] = [0, 1, 2, 3].map(() => allocate(tableLength)) as Four
  const [queries, texts, ofQueries, ofTexts] = [0, 1, 2, 3].map(() => allocate(batch * dimensions)) as Four
  const scores = allocate(batch * batch)
  const left = allocate(batch * Math.max(batch, dimensions))
  const right = allocate(batch * Math.max(batch, dimensions))
  table.set(startTable(groups, vocabularySize, dimensions, random.normal))
  const touched = new Uint8Array(vocabularySize)

  const multiply = (to: Float32Array, rows: number, columns: number, depth: number) =>
    kernels.multiply(left.byteOffset, right.byteOffset, to.byteOffset, 4 * columns, depth, rows, columns)
  const sumUp = (bags: readonly Bag[], to: Float32Array) => {
    to.fill(0)
    for (const [at, { tokens: ids, weights }] of bags.entries())
      for (let index = 0; index < ids.length; index++)
        kernels.addScaled(
          to.byteOffset + 4 * at * dimensions,
          table.byteOffset + 4 * (ids[index] as number) * dimensions,
          weights[index] as number,
          dimensions,
        )
    return normalise(to, bags.length, dimensions)
  }
  const spread = (bags: readonly Bag[], from: Float32Array) => {
    for (const [at, { tokens: ids, weights }] of bags.entries())
      for (let index = 0; index < ids.length; index++) {
        const token = ids[index] as number
        touched[token] = 1
        kernels.addScaled(
          gradient.byteOffset + 4 * token * dimensions,
          from.byteOffset + 4 * at * dimensions,
          weights[index] as number,
          dimensions,
        )
      }
  }
  const stepAdam = (step: number) => {
    const rate = learningRate * Math.min(1, step / warmUpSteps) * (1 - (step - 1) / steps) + 1e-5
    for (let token = 0; token < vocabularySize; token++) {
      if (touched[token] === 0) continue
      touched[token] = 0
      const [value, slope, first, second] = [table, gradient, mean, square].map(
        ({ byteOffset }) => byteOffset + 4 * token * dimensions,
      ) as [number, number, number, number]
      kernels.adam(value, slope, first, second, dimensions, rate / (1 - 0.9 ** step), 1 / (1 - 0.99 ** step))
    }
  }

  const bagOf = createBags(vocabularySize)
  let average: number | undefined
  for (let step = 1; step <= steps; step++) {
    const pairs = sampling.batch(batch, groupsPerBatch)
    const asked = pairs.map(({ query, idf }) => bagOf(query, idf))
    const told = pairs.map(({ text }) => bagOf(text))
    const askedLengths = sumUp(asked, queries)
    const toldLengths = sumUp(told, texts)
    packRows(queries, left, batch, dimensions)
    packColumns(texts, right, batch, dimensions, dimensions, 1)
    multiply(scores, batch, batch, dimensions)
    const loss = toGradient(scores, batch, pairs)
    packRows(scores, left, batch, batch)
    packColumns(texts, right, dimensions, batch, 1, dimensions)
    multiply(ofQueries, batch, dimensions, batch)
    packRows(transposed(scores, batch), left, batch, batch)
    packColumns(queries, right, dimensions, batch, 1, dimensions)
    multiply(ofTexts, batch, dimensions, batch)
    throughNormalising(ofQueries, queries, askedLengths, dimensions)
    throughNormalising(ofTexts, texts, toldLengths, dimensions)
    spread(asked, ofQueries)
    spread(told, ofTexts)
    stepAdam(step)
    average = average === undefined ? loss : 0.98 * average + 0.02 * loss
    options.progress?.(step, average)
  }
  return table.slice()
}

type Four = [Float32Array, Float32Array, Float32Array, Float32Array]

/** Random, and smaller for the frequent tokens. */
function startTable(groups: readonly Group[], vocabularySize: number, dimensions: number, normal: () => number) {
  const counts = new Float64Array(vocabularySize)
  let total = 0
  const count = (token: number) => {
    if (token === 0) return
    counts[token] = (counts[token] as number) + 1
    total++
  }
  for (const { rows } of groups)
    for (const { heading, body } of rows) {
      heading.forEach(count)
      body.forEach(count)
    }
  const table = new Float32Array(vocabularySize * dimensions)
  for (let token = 1; token < vocabularySize; token++) {
    const scale = 1e-3 / (1e-3 + (counts[token] as number) / total) / 16
    for (let at = token * dimensions; at < (token + 1) * dimensions; at++) table[at] = normal() * scale
  }
  return table
}

interface Bag {
  tokens: number[]
  weights: number[]
}

/** The distinct tokens, each with the root of its count, in the order in which they come. */
function createBags(vocabularySize: number) {
  const counts = new Uint32Array(vocabularySize)
  return (ids: readonly number[], idf?: Float32Array): Bag => {
    const tokens: number[] = []
    for (const token of ids) {
      if (token === 0) continue
      if (counts[token] === 0) tokens.push(token)
      counts[token] = (counts[token] as number) + 1
    }
    const weights = tokens.map((token) => Math.sqrt(counts[token] as number) * (idf?.[token] ?? 1))
    for (const token of tokens) counts[token] = 0
    return { tokens, weights }
  }
}

function normalise(values: Float32Array, rows: number, dimensions: number): Float64Array {
  const lengths = new Float64Array(rows)
  for (let row = 0; row < rows; row++) {
    let sum = 0
    const end = (row + 1) * dimensions
    for (let at = row * dimensions; at < end; at++) sum += (values[at] as number) ** 2
    const length = Math.sqrt(sum) + 1e-6
    lengths[row] = length
    for (let at = row * dimensions; at < end; at++) values[at] = (values[at] as number) / length
  }
  return lengths
}

/** From the slope of the normalised rows to that of the sums. */
function throughNormalising(slope: Float32Array, rows: Float32Array, lengths: Float64Array, dimensions: number) {
  for (const [row, length] of lengths.entries()) {
    const from = row * dimensions
    let product = 0
    for (let at = from; at < from + dimensions; at++) product += (slope[at] as number) * (rows[at] as number)
    for (let at = from; at < from + dimensions; at++)
      slope[at] = ((slope[at] as number) - (rows[at] as number) * product) / length
  }
}

/** Replaces the cosines by the slope of the loss: each query is to find its text among all, and each text its query. */
function toGradient(scores: Float32Array, batch: number, pairs: readonly Pair[]): number {
  const count = pairs.length
  const queryKeys = pairs.map(({ query }) => query.join())
  const textKeys = pairs.map(({ text }) => text.slice(0, 40).join())
  const rowSums = new Float64Array(count)
  const columnSums = new Float64Array(count)
  for (let row = 0; row < count; row++)
    for (let column = 0; column < count; column++) {
      const at = row * batch + column
      const isSame = row !== column && (queryKeys[row] === queryKeys[column] || textKeys[row] === textKeys[column])
      const value = isSame ? 0 : Math.exp(((scores[at] as number) - 1) / temperature)
      scores[at] = value
      rowSums[row] = (rowSums[row] as number) + value
      columnSums[column] = (columnSums[column] as number) + value
    }
  const scale = 1 / (2 * count * temperature)
  let loss = 0
  scores.fill(0, count * batch)
  for (let row = 0; row < count; row++) {
    loss -= Math.log((scores[row * batch + row] as number) / (rowSums[row] as number) + 1e-9)
    for (let column = 0; column < count; column++) {
      const at = row * batch + column
      const value = scores[at] as number
      const share = value / (rowSums[row] as number) + value / (columnSums[column] as number)
      scores[at] = (share - (row === column ? 2 : 0)) * scale
    }
    scores.fill(0, row * batch + count, (row + 1) * batch)
  }
  return loss / count
}

function transposed(square: Float32Array, size: number): Float32Array {
  const turned = new Float32Array(size * size)
  for (let row = 0; row < size; row++)
    for (let column = 0; column < size; column++) turned[column * size + row] = square[row * size + column] as number
  return turned
}

/** Panels of 4 rows, depth first. */
function packRows(from: Float32Array, to: Float32Array, rows: number, depth: number): void {
  let at = 0
  for (let row = 0; row < rows; row += 4)
    for (let step = 0; step < depth; step++)
      for (let line = 0; line < 4; line++) to[at++] = from[(row + line) * depth + step] as number
}

/** Panels of 8 columns, depth first; the strides say where a column and a step of the depth are in `from`. */
function packColumns(
  from: Float32Array,
  to: Float32Array,
  columns: number,
  depth: number,
  columnStride: number,
  depthStride: number,
): void {
  let at = 0
  for (let column = 0; column < columns; column += 8)
    for (let step = 0; step < depth; step++)
      for (let line = 0; line < 8; line++)
        to[at++] = from[(column + line) * columnStride + step * depthStride] as number
}
