import { type Answered, Connection } from './connection.ts'

/** A connection to each server, used in turns: as a client behind a proxy without affinity. */
export class Caller {
  readonly #connections: Connection[]
  #turn: number

  /** Different callers begin with different servers. */
  constructor(urls: readonly string[], path: string, number: number, headers: Record<string, string> = {}) {
    this.#connections = urls.map((url) => new Connection(new URL(url), path, headers))
    this.#turn = number
  }

  post(body: string): Promise<Answered> {
    const connection = this.#connections[this.#turn++ % this.#connections.length] as Connection
    return connection.post(body)
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }
}
