import type { CallOptions, Connection } from './connection.ts'
import { toNetworkError } from './error.ts'

/** For keys with the scope `admin`. */
export interface AdminClient {
  /** An archive of everything that the server keeps, as it comes. Waits for the server's copies without a time limit. */
  backup(options?: CallOptions): Promise<AsyncIterableIterator<Uint8Array>>
}

export function createAdminClient(connection: Connection, prefix: string): AdminClient {
  return {
    async backup(options) {
      const call = { ...options, method: 'GET', path: `${prefix}/backup`, repeat: 'safe', long: true } as const
      const { body, end } = await connection.open(call, 'application/x-tar')
      return piecesOf(body, end, connection.name)
    },
  }
}

async function* piecesOf(body: AsyncIterable<Uint8Array>, end: () => void, name: string): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw toNetworkError(error, name)
  } finally {
    end()
  }
}
