import type { VectorRow, VectorStore, VectorTable } from '../../core/knowledge/drivers.ts'
import { fromHalves } from '../../core/knowledge/half-float.ts'

export function memoryVectors(): VectorStore {
  const tables = new Map<string, VectorTable>()
  return {
    type: 'memory',
    location: 'memory',
    names: async () => [...tables.keys()],
    async table(name, dimensions) {
      const table = tables.get(name) ?? memoryTable(dimensions)
      tables.set(name, table)
      return table
    },
    async drop(name) {
      tables.delete(name)
    },
    async close() {
      tables.clear()
    },
  }
}

function memoryTable(dimensions: number): VectorTable {
  let rows: (VectorRow & { vector: Float32Array })[] = []
  const assertLength = (vector: VectorRow['vector']) => {
    if (vector.length !== dimensions)
      throw new Error(`a vector of ${vector.length} dimensions in a table of ${dimensions}`)
  }
  return {
    async add(added) {
      for (const row of added) assertLength(row.vector)
      for (const { vector, ...row } of added)
        rows.push({ ...row, vector: vector instanceof Uint16Array ? fromHalves(vector) : vector.slice() })
    },
    async search(vector, limit, generations) {
      assertLength(vector)
      const wanted = generations && new Set(generations)
      return rows
        .filter((row) => !wanted || wanted.has(row.generation))
        .map((row) => ({ chunk: row.chunk, generation: row.generation, similarity: cosine(row.vector, vector) }))
        .sort((one, other) => other.similarity - one.similarity)
        .slice(0, limit)
    },
    async counts() {
      const counts = new Map<number, number>()
      for (const row of rows) counts.set(row.generation, (counts.get(row.generation) ?? 0) + 1)
      return counts
    },
    count: async () => rows.length,
    async removeGenerations(generations) {
      const gone = new Set(generations)
      rows = rows.filter((row) => !gone.has(row.generation))
    },
    compact: async () => {},
  }
}

function cosine(one: Float32Array, other: Float32Array): number {
  let product = 0
  let ones = 0
  let others = 0
  for (let index = 0; index < one.length; index++) {
    const a = one[index] ?? 0
    const b = other[index] ?? 0
    product += a * b
    ones += a * a
    others += b * b
  }
  return product / (Math.sqrt(ones * others) || 1)
}
