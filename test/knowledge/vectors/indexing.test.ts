import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, Index } from '@lancedb/lancedb'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { toHalves } from '../../../src/core/knowledge/half-float.ts'
import { lanceVectors } from '../../../src/knowledge/vectors/lancedb.ts'
import { filesWith } from '../../support/bytes.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-vectors-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** Rows in 20 clusters, the same in every run. */
function clusteredRows(count: number, dimensions: number) {
  let state = 1
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 - 0.5
  }
  const centres = Array.from({ length: 20 }, () => Array.from({ length: dimensions }, random))
  return Array.from({ length: count }, (_, at) => ({
    chunk: at + 1,
    generation: 1 + (at % 10),
    vector: Float32Array.from(centres[at % 20] ?? [], (value) => value + random() / 2),
  }))
}

async function indexNames(table: string): Promise<string[]> {
  const database = await connect(folder)
  const opened = await database.openTable(table)
  const names = (await opened.listIndices()).map(({ name }) => name)
  opened.close()
  database.close()
  return names
}

const chunksOf = (hits: readonly { chunk: number }[]) => hits.map(({ chunk }) => chunk)

it.each([
  [64, 'vector_flat', 50],
  [320, 'vector_rq2', 48],
])('an index of %i dimensions finds what an exact search finds', async (dimensions, name, same) => {
  const rows = clusteredRows(2_000, dimensions)
  const exact = lanceVectors({ folder, quietMs: 60_000 })
  const table = await exact.table('t', dimensions)
  await table.add(rows)
  const queries = rows.slice(0, 10).map(({ vector }) => vector.map((value, at) => value + Math.sin(at) / 10))
  const wanted: number[][] = []
  for (const query of queries) wanted.push(chunksOf(await table.search(query, 50)))
  await exact.close()
  const store = lanceVectors({ folder, indexedFromRows: 1_000, quietMs: 0 })
  const indexed = await store.table('t', dimensions)
  await expect.poll(() => indexNames('t'), { interval: 25 }).toEqual([name])
  for (const [at, query] of queries.entries()) {
    const found = chunksOf(await indexed.search(query, 50))
    expect(found.filter((chunk) => wanted[at]?.includes(chunk)).length).toBeGreaterThanOrEqual(same)
  }
  await store.close()
})

it('a brief search leaves rows out that no index has yet if they are too many, any other finds them', async () => {
  const rows = clusteredRows(1_200, 64)
  const query = rows[0]?.vector ?? new Float32Array(64)
  const options = { folder, indexedFromRows: 1_000, comparedValues: 100 * 64 }
  const store = lanceVectors({ ...options, quietMs: 60_000 })
  const table = await store.table('t', 64)
  await table.add(rows.slice(0, 100))
  expect(chunksOf(await table.search(query, 1, undefined, true))).toEqual([1])
  await table.add(rows.slice(100))
  expect(await table.search(query, 1, undefined, true)).toEqual([])
  expect(chunksOf(await table.search(query, 1))).toEqual([1])
  await store.close()

  const later = lanceVectors({ ...options, quietMs: 0 })
  const indexed = await later.table('t', 64)
  await expect.poll(() => indexed.search(query, 1, undefined, true), { interval: 25 }).toMatchObject([{ chunk: 1 }])
  const more = rows.slice(0, 200).map((row) => ({ ...row, chunk: row.chunk + 5_000 }))
  await indexed.add(more)
  await expect
    .poll(async () => chunksOf(await indexed.search(query, 2, undefined, true)).sort(), { interval: 25 })
    .toEqual([1, 5_001])
  await later.close()
})

it('the index of an earlier version is replaced', async () => {
  const store = lanceVectors({ folder, quietMs: 60_000 })
  const table = await store.table('t', 64)
  await table.add(clusteredRows(1_200, 64))
  await store.close()
  const database = await connect(folder)
  const opened = await database.openTable('t')
  await opened.createIndex('vector', { config: Index.ivfRq({ distanceType: 'cosine' }) })
  opened.close()
  database.close()
  expect(await indexNames('t')).toEqual(['vector_idx'])
  const later = lanceVectors({ folder, indexedFromRows: 1_000, quietMs: 0 })
  await later.table('t', 64)
  await expect.poll(() => indexNames('t'), { interval: 25 }).toEqual(['vector_flat'])
  await later.close()
})

it('a deleted vector is taken out of the index too', async () => {
  const rows = clusteredRows(1_500, 64)
  // Of length 1: the index has it as it is.
  const vector = Float32Array.from({ length: 64 }, (_, at) => ((at * at) % 3 === 0 ? 0.125 : -0.125))
  rows[6] = { chunk: 7, generation: 7, vector }
  const halves = new Uint16Array(64)
  toHalves(vector, halves, 0)
  const bytes = Buffer.from(halves.buffer)
  const store = lanceVectors({ folder, indexedFromRows: 1_000, quietMs: 0 })
  const table = await store.table('t', 64)
  await table.add(rows)
  await expect.poll(() => indexNames('t'), { interval: 25 }).toEqual(['vector_flat'])
  await expect
    .poll(async () => (await filesWith(folder, bytes)).filter((file) => file.includes('_indices')), { interval: 25 })
    .not.toEqual([])
  await table.removeGenerations([7])
  await expect.poll(() => filesWith(folder, bytes), { timeout: 20_000, interval: 25 }).toEqual([])
  expect(await table.count()).toBe(1_350)
  await store.close()
})
