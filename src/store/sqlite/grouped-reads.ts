import type { SqlRow } from './connection.ts'

const groupLimit = 256

interface Waiting<Request> {
  request: Request
  resolve: (rows: SqlRow[]) => void
  reject: (error: unknown) => void
}

/**
 * Answers what several callers ask in the same way with one statement: those who come while it runs share the next one.
 * `select` gets the requests as a JSON array; its rows say by `request_key` whose they are.
 */
export class GroupedReads<Request> {
  readonly #select: (requests: string) => Promise<SqlRow[]>
  #waiting: Waiting<Request>[] = []
  #reading = false

  constructor(select: (requests: string) => Promise<SqlRow[]>) {
    this.#select = select
  }

  read(request: Request): Promise<SqlRow[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject })
      if (!this.#reading) void this.#readAll()
    })
  }

  async #readAll(): Promise<void> {
    this.#reading = true
    // What is asked for in the same step goes into the first group too.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, groupLimit)
      try {
        const rows = await this.#select(JSON.stringify(group.map(({ request }) => request)))
        const byRequest = Map.groupBy(rows, (row) => row.request_key as number)
        for (const [key, { resolve }] of group.entries()) resolve(byRequest.get(key) ?? [])
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    this.#reading = false
  }
}
