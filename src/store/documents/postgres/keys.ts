import type { Sql } from '../../postgres/connection.ts'
import type { KnowledgeDatabase } from './database.ts'

const reservedAtOnce = { chunk: 10_000, generation: 1_000 }
type Name = keyof typeof reservedAtOnce

/** Gives out keys that no process uses again. Each process reserves many at once; its generations are known as its own. */
export class Keys {
  readonly #database: KnowledgeDatabase
  #left = nothing()
  #last: Promise<unknown> = Promise.resolve()

  constructor(database: KnowledgeDatabase) {
    this.#database = database
    database.listen({ lost: () => this.forget() })
  }

  reserve(chunks: readonly number[]): Promise<{ generation: number; firstChunk: number }[]> {
    const reserved = this.#last.then(async () => {
      const count = chunks.reduce((sum, each) => sum + each, 0)
      if (!this.#has('generation', chunks.length) || !this.#has('chunk', count)) await this.#more(chunks.length, count)
      return chunks.map((each) => ({ generation: this.#take('generation', 1), firstChunk: this.#take('chunk', each) }))
    })
    this.#last = reserved.catch(() => {})
    return reserved
  }

  /** What is reserved may be taken from this process. */
  forget(): void {
    this.#left = nothing()
  }

  #has(name: Name, count: number): boolean {
    return this.#left[name].end - this.#left[name].next >= count
  }

  #take(name: Name, count: number): number {
    const range = this.#left[name]
    range.next += count
    return range.next - count
  }

  async #more(generations: number, chunks: number): Promise<void> {
    const made = await this.#database.owned(async (sql, owner) => {
      const generation = await next(sql, 'generation', generations)
      await sql.run('INSERT INTO generation_range VALUES ($1, $2, $3)', [generation.next, generation.end - 1, owner])
      return { generation, chunk: await next(sql, 'chunk', chunks) }
    })
    this.#left = made
  }
}

const nothing = () => ({ chunk: { next: 0, end: 0 }, generation: { next: 0, end: 0 } })

async function next(sql: Sql, name: Name, count: number) {
  const more = Math.max(count, reservedAtOnce[name])
  const [row] = await sql.all<{ end: number }>(
    `INSERT INTO knowledge_counter VALUES ($2, 1 + $1::bigint)
     ON CONFLICT (counter_name) DO UPDATE SET next_value = knowledge_counter.next_value + $1::bigint
     RETURNING next_value AS end`,
    [more, name],
  )
  if (row === undefined) throw new Error(`The database gave no keys for '${name}'.`)
  return { next: row.end - more, end: row.end }
}
