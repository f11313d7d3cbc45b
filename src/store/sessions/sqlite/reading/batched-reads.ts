import type { SqlRow } from '../../../sqlite/connection.ts'

const usualLimit = 256

interface PendingRead {
  request: string
  resolve: (rows: SqlRow[]) => void
  reject: (error: unknown) => void
}

/**
 * Answers equal reads of several callers with one statement. Calls that come while it runs share the next one; equal
 * requests share their rows. `select` gets the requests as a JSON array and their number; each row names its request in
 * `request_key`.
 */
export class BatchedReads {
  readonly #select: (requests: string, count: number) => Promise<SqlRow[]>
  readonly #most: number
  #waiting: PendingRead[] = []
  #reading = false

  /** `most`: the maximum number of requests per statement. */
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
    // Requests of the same tick join the first batch too.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#most)
      const requests = [...new Set(batch.map(({ request }) => request))]
      try {
        const rows = await this.#select(JSON.stringify(requests), requests.length)
        const byRequest = Map.groupBy(rows, (row) => requests[row.request_key as number])
        for (const { request, resolve } of batch) resolve(byRequest.get(request) ?? [])
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#reading = false
  }
}
