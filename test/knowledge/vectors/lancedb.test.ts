import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { toHalves } from '../../../src/core/knowledge/half-float.ts'
import { lanceVectors } from '../../../src/knowledge/vectors/lancedb.ts'
import { whereIn } from '../../../src/knowledge/vectors/where.ts'
import { testVectorStore } from '../../contract/vector-store.ts'

const folders: string[] = []
const newFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vectors-'))
  folders.push(folder)
  return folder
}
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

testVectorStore('lancedb', async () => lanceVectors({ folder: await newFolder() }))

describe('lancedb in particular', () => {
  it('still has its vectors when it is opened again', async () => {
    const folder = await newFolder()
    const first = lanceVectors({ folder })
    await (await first.table('c1_v1', 2)).add([{ chunk: 7, generation: 3, vector: Float32Array.of(0, 1) }])
    await first.close()
    const second = lanceVectors({ folder })
    const table = await second.table('c1_v1', 2)
    // Other processors round the last digit of the similarity otherwise.
    expect(await table.search(Float32Array.of(0, 1), 1)).toEqual([
      { chunk: 7, generation: 3, similarity: expect.closeTo(1, 5) },
    ])
    await second.close()
  })

  it('keeps numbers as 16-bit floats, rounded to the nearest', () => {
    const values = Float32Array.of(0, -0, 1, -1, 0.5, 1 / 3, 65_504, 6.1e-5, 5.96e-8, 2e-8, 1e-9, -0.1234)
    const halves = new Uint16Array(values.length + 1)
    toHalves(values, halves, 1)
    const bits = ['0', '8000', '3c00', 'bc00', '3800', '3555', '7bff', '3ff', '1', '0', '0', 'afe6']
    expect([...halves.subarray(1)].map((half) => half.toString(16))).toEqual(bits)
  })

  it('finds the same with an index as without, once there are many', async () => {
    const folder = await newFolder()
    const store = lanceVectors({ folder, indexedFromRows: 2_000, quietMs: 0 })
    const table = await store.table('c1_v1', 64)
    let state = 1
    const random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state / 2 ** 32 - 0.5
    }
    const centres = Array.from({ length: 40 }, () => Array.from({ length: 64 }, random))
    const rows = Array.from({ length: 4_000 }, (_, chunk) => ({
      chunk,
      generation: 1 + (chunk % 10),
      vector: Float32Array.from(centres[chunk % 40] ?? [], (value) => value + random() / 4),
    }))
    await table.add(rows)
    const query = rows[123]?.vector ?? new Float32Array(64)
    const exact = (await table.search(query, 20)).map((hit) => hit.chunk)
    while (!(await readdir(join(folder, 'c1_v1.lance'))).includes('_indices')) await new Promise(setImmediate)
    await table.add([{ chunk: 5_000, generation: 1, vector: query }])
    await store.close()
    const again = lanceVectors({ folder, indexedFromRows: 2_000, quietMs: 0 })
    const indexed = await again.table('c1_v1', 64)
    const found = await indexed.search(query, 21)
    expect(
      found
        .slice(0, 2)
        .map((hit) => hit.chunk)
        .sort(),
    ).toEqual([123, 5_000])
    expect(found.filter((hit) => exact.includes(hit.chunk)).length).toBeGreaterThanOrEqual(15)
    expect((await indexed.search(query, 5, [4])).every((hit) => hit.chunk % 10 === 3)).toBe(true)
    await again.close()
  })

  it('tidies all tables of a store, also when one is dropped meanwhile', async () => {
    const folder = await newFolder()
    const store = lanceVectors({ folder, indexedFromRows: 1_000, quietMs: 0 })
    const names = ['c1_v1', 'c1_v1_more', 'c2_v1']
    for (const name of names) {
      const table = await store.table(name, 16)
      const vectors = Array.from({ length: 1_200 }, (_, at) =>
        Float32Array.from({ length: 16 }, (_, axis) => Math.sin(at * (axis + 1))),
      )
      await table.add(vectors.map((vector, chunk) => ({ chunk: chunk + 1, generation: 1, vector })))
    }
    await store.drop('c2_v1')
    for (const name of names.slice(0, 2))
      while (!(await readdir(join(folder, `${name}.lance`))).includes('_indices')) await new Promise(setImmediate)
    expect(await readdir(folder)).not.toContain('c2_v1.lance')
    await store.close()
  })

  it('gives a whole table to who opens one while that of its name is dropped', async () => {
    const store = lanceVectors({ folder: await newFolder() })
    const vector = Float32Array.of(0, 1)
    for (let chunk = 1; chunk < 9; chunk++) {
      await (await store.table('c1_v1', 2)).add([{ chunk, generation: 1, vector }])
      const dropping = store.drop('c1_v1')
      const table = await store.table('c1_v1', 2)
      await dropping
      expect(await table.count()).toBe(0)
      await table.add([{ chunk, generation: 2, vector }])
      expect([...(await (await store.table('c1_v1', 2)).counts())]).toEqual([[2, 1]])
      await store.drop('c1_v1')
    }
    await store.close()
  })

  it('closes although a table could not be opened', async () => {
    const folder = await newFolder()
    await mkdir(join(folder, 'c1_v1.lance', '_versions'), { recursive: true })
    await writeFile(join(folder, 'c1_v1.lance', '_versions', '1.manifest'), 'damaged')
    const store = lanceVectors({ folder })
    const opening = store.table('c1_v1', 2)
    const closing = store.close()
    await expect(opening).rejects.toThrow()
    await closing
  })

  it('leaves small tables without an index', async () => {
    const folder = await newFolder()
    const store = lanceVectors({ folder, quietMs: 0 })
    const table = await store.table('c1_v1', 16)
    await table.add([{ chunk: 1, generation: 1, vector: Float32Array.from({ length: 16 }, Math.sin) }])
    await table.compact()
    await store.close()
    expect(await readdir(join(folder, 'c1_v1.lance'))).not.toContain('_indices')
  })

  it('writes filters of whole numbers only', () => {
    expect(whereIn('generation', [1, 2])).toBe('generation IN (1, 2)')
    expect(() => whereIn('generation', [1.5])).toThrow(TypeError)
    expect(() => whereIn('chunk', ["1' OR '1'='1" as unknown as number])).toThrow(TypeError)
    expect(() => whereIn('1=1 OR chunk' as 'chunk', [1])).toThrow(TypeError)
  })
})
