const usualLimit = 256

interface PendingRead<Row> {
  request: string
  resolve: (rows: Row[]) => void
  reject: (error: unknown) => void
}

/**
 * Answers equal reads of several callers with one statement. Calls that come while it runs share the next one; equal
 * requests share their rows. Each row that `select` gives names its request by its index, in `request_key`.
 */
export class BatchedReads<Row extends { request_key?: unknown }> {
  readonly #select: (requests: readonly string[]) => Promise<Row[]>
  readonly #most: number
  #waiting: PendingRead<Row>[] = []
  #reading = false

  /** `most`: the maximum number of requests per statement. */
  constructor(select: (requests: readonly string[]) => Promise<Row[]>, most = usualLimit) {
    this.#select = select
    this.#most = Math.min(most, usualLimit)
  }

  read(request: string): Promise<Row[]> {
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
        const rows = await this.#select(requests)
        const byRequest = Map.groupBy(rows, (row) => requests[row.request_key as number])
        for (const { request, resolve } of batch) resolve(byRequest.get(request) ?? [])
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#reading = false
  }
}
