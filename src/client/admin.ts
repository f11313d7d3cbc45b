import { type AuditClient, createAuditClient } from './audit.ts'
import { createFactsClient, type FactsClient } from './facts.ts'
import { linesOf } from './session-copies.ts'
import type { CallOptions, Connection } from './transport/connection.ts'
import { toNetworkError } from './transport/network-error.ts'

/** For keys with the scope `admin`. */
export interface AdminClient {
  /** Streams an archive of all data of the server. There is no time limit until the server has made its copies. */
  backup(options?: CallOptions): Promise<AsyncIterableIterator<Uint8Array>>
  users: UsersClient
  audit: AuditClient
}

export interface UsersClient {
  /** Streams all data of a user as JSON lines. The last line has the type `user_end`. Leaving the loop closes the request. */
  export(userId: string, options?: CallOptions): Promise<AsyncIterableIterator<string>>
  /** Erases what `export` returns. It can be repeated safely; after a `timeout`, repeat it. */
  erase(userId: string, options?: CallOptions): Promise<void>
  facts: FactsClient
}

export function createAdminClient(connection: Connection, prefix: string): AdminClient {
  const of = (userId: string) => `${prefix}/users/${encodeURIComponent(userId)}`
  return {
    async backup(options) {
      const call = { ...options, method: 'GET', path: `${prefix}/backup`, repeat: 'safe', long: true } as const
      const { body, end } = await connection.open(call, 'application/x-tar')
      return piecesOf(body, end, connection.name)
    },
    users: {
      async export(userId, options) {
        const call = { ...options, method: 'GET', path: `${of(userId)}/export`, repeat: 'safe' } as const
        const { body, end } = await connection.open(call, 'application/x-ndjson')
        return linesOf(body, end, connection.name)
      },
      async erase(userId, options) {
        await connection.whole({ ...options, method: 'DELETE', path: of(userId), repeat: 'safe', long: true })
      },
      facts: createFactsClient(connection, prefix),
    },
    audit: createAuditClient(connection, prefix),
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
