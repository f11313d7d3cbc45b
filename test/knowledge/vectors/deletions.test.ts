import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toHalves } from '../../../src/core/knowledge/half-float.ts'
import { lanceVectors } from '../../../src/knowledge/vectors/lancedb.ts'
import { filesWith } from '../../support/bytes.ts'

it('takes deleted vectors out of the files when it is quiet, also those of an earlier process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-vectors-'))
  const row = (chunk: number, generation: number) => ({
    chunk,
    generation,
    vector: Float32Array.from({ length: 64 }, (_, place) => Math.sin(chunk * 64 + place)),
  })
  const bytesOf = (chunk: number) => {
    const halves = new Uint16Array(64)
    toHalves(row(chunk, 0).vector, halves, 0)
    return Buffer.from(halves.buffer)
  }
  let store = lanceVectors({ folder, quietMs: 60_000 })
  let table = await store.table('vectors', 64)
  for (let generation = 1; generation <= 40; generation++)
    await table.add(Array.from({ length: 25 }, (_, place) => row(generation * 100 + place, generation)))
  await table.compact()
  await table.removeGenerations([20])
  await table.compact()
  expect(await filesWith(folder, bytesOf(2005))).not.toEqual([])
  await store.close()
  store = lanceVectors({ folder, quietMs: 10 })
  table = await store.table('vectors', 64)
  await expect.poll(() => filesWith(folder, bytesOf(2005)), { timeout: 20_000, interval: 25 }).toEqual([])
  expect(await table.count()).toBe(975)
  expect(await table.search(row(2105, 0).vector, 1)).toMatchObject([{ chunk: 2105, generation: 21 }])
  await store.close()
  await rm(folder, { recursive: true })
})
