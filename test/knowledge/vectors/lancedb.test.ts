import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
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
    expect(await table.search(Float32Array.of(0, 1), 1)).toEqual([{ chunk: 7, similarity: 1 }])
    await second.close()
  })

  it('writes filters of whole numbers only', () => {
    expect(whereIn('generation', [1, 2])).toBe('generation IN (1, 2)')
    expect(() => whereIn('generation', [1.5])).toThrow(TypeError)
    expect(() => whereIn('chunk', ["1' OR '1'='1" as unknown as number])).toThrow(TypeError)
    expect(() => whereIn('1=1 OR chunk' as 'chunk', [1])).toThrow(TypeError)
  })
})
