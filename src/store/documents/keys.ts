import type { Connection } from '../sqlite/connection.ts'
import type { counter } from './schema.ts'

const reservedAtOnce = { chunk: 10_000, generation: 1_000 }

/** Gives out keys that are never used again, even after a crash. Reserves many at once, inside a transaction. */
export class Keys {
  readonly #left = { chunk: { next: 0, end: 0 }, generation: { next: 0, end: 0 } }

  /** The first of `count` consecutive keys. */
  async take(connection: Connection, name: 'chunk' | 'generation', count: number): Promise<number> {
    const range = this.#left[name]
    if (range.end - range.next < count) {
      const more = Math.max(count, reservedAtOnce[name])
      const [row] = await connection.all<Pick<typeof counter.$inferSelect, 'next_value'>>(
        'UPDATE counter SET next_value = next_value + ? WHERE counter_name = ? RETURNING next_value',
        [more, name],
      )
      if (row === undefined) throw new Error(`The knowledge base has no counter '${name}'.`)
      range.end = row.next_value
      range.next = range.end - more
    }
    range.next += count
    return range.next - count
  }

  /** Call it after a rollback, which has undone a reservation. */
  forget(): void {
    for (const range of Object.values(this.#left)) Object.assign(range, { next: 0, end: 0 })
  }
}
