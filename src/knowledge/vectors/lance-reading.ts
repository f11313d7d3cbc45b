import type { VectorRow } from '../../core/knowledge/drivers.ts'
import { loadLance } from './lancedb.ts'
import { whereBetween } from './where.ts'

/** Vectors in files, as they are stored. Changes nothing, so that another process may use them. */
export interface StoredVectors {
  names(): Promise<string[]>
  /** Those of the chunks with these keys, the first and the last included. `vector` has the bits of 16-bit floats. */
  read(name: string, first: number, last: number): Promise<VectorRow[]>
  close(): Promise<void>
}

export async function openStoredVectors(folder: string): Promise<StoredVectors> {
  const { connect } = await loadLance()
  const database = await connect(folder)
  const tables = new Map<string, ReturnType<typeof database.openTable>>()
  const opened = (name: string) => {
    const table = tables.get(name) ?? database.openTable(name)
    tables.set(name, table)
    return table
  }
  return {
    names: () => database.tableNames({ limit: 100_000 }),
    async read(name, first, last) {
      const table = await opened(name)
      const asked = table
        .query()
        .where(whereBetween('chunk', first, last))
        .select(['chunk', 'generation', 'vector'])
      const found = await asked.toArrow()
      return found.batches.flatMap((batch) => {
        const [chunks, generations, vectors] = [
          batch.getChild('chunk'),
          batch.getChild('generation'),
          batch.getChild('vector'),
        ]
        const values = vectors?.data[0]?.children[0]?.values as Uint16Array | undefined
        if (!chunks || !generations || !values) throw new Error(`the table ${name} has no vectors`)
        const dimensions = values.length / batch.numRows
        return Array.from({ length: batch.numRows }, (_, at) => ({
          chunk: Number(chunks.get(at)),
          generation: Number(generations.get(at)),
          vector: values.slice(at * dimensions, (at + 1) * dimensions),
        }))
      })
    },
    async close() {
      for (const table of tables.values()) await table.then((open) => open.close()).catch(() => undefined)
      database.close()
    },
  }
}
