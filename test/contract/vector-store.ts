import { afterEach, describe, expect, it } from 'vitest'
import type { VectorStore } from '../../src/core/knowledge/drivers.ts'

const vector = (...values: number[]) => Float32Array.from(values)
const row = (chunk: number, generation: number, ...values: number[]) => ({
  chunk,
  generation,
  vector: vector(...values),
})

/** What every vector store does. `open` gives a new, empty one. */
export function testVectorStore(name: string, open: () => Promise<VectorStore>): void {
  describe(`${name} as a vector store`, () => {
    const opened: VectorStore[] = []
    const openTable = async (dimensions = 3) => {
      const store = await open()
      opened.push(store)
      return { store, table: await store.table('c1_v1', dimensions) }
    }
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close()
    })

    it('finds the nearest by cosine, best first', async () => {
      const { table } = await openTable()
      await table.add([row(1, 1, 1, 0, 0), row(2, 1, 0, 1, 0), row(3, 2, 5, 5, 0)])
      const found = await table.search(vector(1, 0, 0), 2)
      expect(found.map(({ chunk, generation }) => [chunk, generation])).toEqual([
        [1, 1],
        [3, 2],
      ])
      expect(found[0]?.similarity).toBeCloseTo(1, 5)
      expect(found[1]?.similarity).toBeCloseTo(Math.SQRT1_2, 5)
    })

    it('takes the bits of 16-bit floats for what they stand for', async () => {
      const { table } = await openTable()
      await table.add([
        { chunk: 1, generation: 1, vector: Uint16Array.of(0x3c00, 0, 0xbc00) },
        { chunk: 2, generation: 1, vector: Uint16Array.of(0x0001, 0x4000, 0) },
      ])
      const [first, second] = await table.search(vector(0, 1, 0), 2)
      expect([first?.chunk, second?.chunk]).toEqual([2, 1])
      expect(first?.similarity).toBeCloseTo(1, 5)
      expect((await table.search(vector(1, 0, -1), 1))[0]?.similarity).toBeCloseTo(1, 5)
    })

    it('looks only into the generations named', async () => {
      const { table } = await openTable()
      await table.add([row(1, 1, 1, 0, 0), row(2, 2, 0, 1, 0), row(3, 3, 0, 0, 1)])
      expect((await table.search(vector(1, 0, 0), 10, [2, 3])).map((hit) => hit.chunk).sort()).toEqual([2, 3])
      expect(await table.search(vector(1, 0, 0), 10, [])).toEqual([])
    })

    it('counts by generation and removes whole generations', async () => {
      const { table } = await openTable()
      await table.add([row(1, 1, 1, 0, 0), row(2, 2, 0, 1, 0), row(3, 2, 0, 0, 1)])
      expect(await table.counts()).toEqual(
        new Map([
          [1, 1],
          [2, 2],
        ]),
      )
      await table.removeGenerations([2, 99])
      await table.removeGenerations([])
      expect(await table.count()).toBe(1)
      expect((await table.search(vector(0, 1, 0), 10)).map((hit) => hit.chunk)).toEqual([1])
    })

    it('answers an empty table with nothing', async () => {
      const { table } = await openTable()
      await table.add([])
      expect(await table.search(vector(1, 0, 0), 5)).toEqual([])
      expect(await table.counts()).toEqual(new Map())
    })

    it('refuses vectors of other dimensions', async () => {
      const { table } = await openTable()
      await expect(table.add([row(1, 1, 1, 0)])).rejects.toThrow(/dimensions/)
      expect(await table.count()).toBe(0)
    })

    it('refuses generations that are no whole numbers', async () => {
      const { table } = await openTable()
      await table.add([row(1, 1, 1, 0, 0)])
      const hostile = ['1) OR (1=1' as unknown as number]
      await table.removeGenerations(hostile).catch(() => undefined)
      expect(await table.count()).toBe(1)
    })

    it('keeps tables apart, names them and drops them', async () => {
      const { store, table } = await openTable()
      const other = await store.table('c2_v1', 2)
      await table.add([row(1, 1, 1, 0, 0)])
      await other.add([row(1, 1, 1, 0)])
      expect((await store.names()).sort()).toEqual(['c1_v1', 'c2_v1'])
      await store.drop('c2_v1')
      await store.drop('never_made')
      expect(await store.names()).toEqual(['c1_v1'])
      expect(await table.count()).toBe(1)
    })

    it('takes many writers at once and stays right after compaction', async () => {
      const { table } = await openTable()
      await Promise.all(Array.from({ length: 20 }, (_, at) => table.add([row(at + 1, at + 1, 1, at, 0)])))
      await Promise.all([table.compact(), table.removeGenerations([1, 2]), table.add([row(21, 21, 0, 0, 1)])])
      expect(await table.count()).toBe(19)
      expect((await table.search(vector(0, 0, 1), 1))[0]?.chunk).toBe(21)
    })
  })
}
