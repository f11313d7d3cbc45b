import type { Sql } from '../../postgres/connection.ts'

/** The keys by which rows name processes. */
export class Owners {
  readonly #keys = new Map<string, number>()
  readonly #sql: Pick<Sql, 'all'>
  #own: number | undefined

  constructor(sql: Pick<Sql, 'all'>) {
    this.#sql = sql
  }

  /** This process's, once it has joined. */
  get own(): number | undefined {
    return this.#own
  }

  /** For rows of work that has no run yet: claims, files. Before the process has joined it is 0, whose work ends at any recovery. */
  get atWork(): number {
    return this.#own ?? 0
  }

  joined(owner: string, key: number): void {
    this.#keys.set(owner, key)
    this.#own = key
  }

  /** The process is no instance any more until it joins again. */
  left(): void {
    this.#own = undefined
  }

  known(owner: string): number | undefined {
    return this.#keys.get(owner)
  }

  /** An owner that never joined gets a key too; its runs belong to nobody else until somebody recovers them. */
  async keyOf(owner: string): Promise<number> {
    const known = this.#keys.get(owner)
    if (known !== undefined) return known
    const [row] = await this.#sql.all<{ instance_key: number }>(
      `INSERT INTO instance (owner) VALUES ($1) ON CONFLICT (owner) DO UPDATE SET owner = excluded.owner
       RETURNING instance_key`,
      [owner],
    )
    const key = row?.instance_key as number
    this.#keys.set(owner, key)
    return key
  }
}
