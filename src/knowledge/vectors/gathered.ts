import type { VectorRow } from '../../core/knowledge/drivers.ts'
import { createSerial } from '../../runtime/serial.ts'

/** Rows that arrive during a write are written together: each write is a file. */
export function gathered(write: (rows: readonly VectorRow[]) => Promise<void>) {
  let group: { rows: VectorRow[]; written: Promise<void> } | undefined
  const queue = createSerial()
  return {
    add(rows: readonly VectorRow[]): Promise<void> {
      if (!group) {
        const opened: VectorRow[] = []
        const written = queue.run(() => {
          group = undefined
          return write(opened)
        })
        group = { rows: opened, written }
      }
      group.rows.push(...rows)
      return group.written
    },
  }
}
