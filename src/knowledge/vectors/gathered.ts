import type { VectorRow } from '../../core/knowledge/drivers.ts'

/** Rows that come while others are being written are written together: each write is a file. */
export function gathered(write: (rows: readonly VectorRow[]) => Promise<void>) {
  let group: { rows: VectorRow[]; written: Promise<void> } | undefined
  let last: Promise<unknown> = Promise.resolve()
  return {
    add(rows: readonly VectorRow[]): Promise<void> {
      if (!group) {
        const opened: VectorRow[] = []
        const written = last.then(() => {
          group = undefined
          return write(opened)
        })
        group = { rows: opened, written }
        last = written.catch(() => undefined)
      }
      group.rows.push(...rows)
      return group.written
    },
  }
}
