import type { FactList, FactsDeleted } from '../wire/fact.ts'
import type { CallOptions, Connection } from './transport/connection.ts'

/** What agents with `memory: { user: true }` remember about users. A key of a user may only name its own user. */
export interface FactsClient {
  /** All of them, oldest first. */
  list(userId: string, options?: CallOptions): Promise<FactList>
  /** Throws `fact_not_found`. */
  delete(userId: string, factId: string, options?: CallOptions): Promise<void>
  /** Deletes all of them, and nothing else of the user. */
  deleteAll(userId: string, options?: CallOptions): Promise<FactsDeleted>
}

/** One by one. */
export type PageFactsClient = Omit<FactsClient, 'deleteAll'>

export function createFactsClient(connection: Connection, prefix: string): FactsClient {
  return {
    ...createPageFactsClient(connection, prefix),
    deleteAll: (userId, options) => connection.delete(pathOf(prefix, userId), options, 'safe'),
  }
}

export function createPageFactsClient(connection: Connection, prefix: string): PageFactsClient {
  const of = (userId: string) => pathOf(prefix, userId)
  return {
    list: (userId, options) => connection.get(of(userId), options),
    async delete(userId, factId, options) {
      const path = `${of(userId)}/${encodeURIComponent(factId)}`
      await connection.whole({ ...options, method: 'DELETE', path, repeat: 'never' })
    },
  }
}

function pathOf(prefix: string, userId: string): string {
  return `${prefix}/users/${encodeURIComponent(userId)}/facts`
}
