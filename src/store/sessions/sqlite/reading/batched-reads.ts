import type { SqlRow } from '../../../sqlite/connection.ts'

const usualLimit = 256

interface Waiting {
  request: string
  resolve: (rows: SqlRow[]) => void
  reject: (error: unknown) => void
}

/**
 * Answers what several callers ask in the same way with one statement: those who come while it runs share the next one,
 * and who asks for the same gets the same rows. `select` gets the requests as a JSON array, and how many they are; its rows
 * say by `request_key` whose they are.
 */
export class GroupedReads {
  readonly #select: (requests: string, count: number) => Promise<SqlRow[]>
  readonly #most: number
  #waiting: Waiting[] = []
  #reading = false

  /** `most`: how many are answered together. */
  constructor(select: (requests: string, count: number) => Promise<SqlRow[]>, most = usualLimit) {
    this.#select = select
    this.#most = Math.min(most, usualLimit)
  }

  read(request: string): Promise<SqlRow[]> {
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
      const group = this.#waiting.splice(0, this.#most)
      const requests = [...new Set(group.map(({ request }) => request))]
      try {
        const rows = await this.#select(JSON.stringify(requests), requests.length)
        const byRequest = Map.groupBy(rows, (row) => requests[row.request_key as number])
        for (const { request, resolve } of group) resolve(byRequest.get(request) ?? [])
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    this.#reading = false
  }
}
