import type { ForkSessionRequest, Session } from '../wire/session.ts'
import type { CallOptions, Connection, KeyedOptions } from './transport/connection.ts'
import { toNetworkError } from './transport/network-error.ts'

const mediaType = 'application/x-ndjson'

export interface SessionCopiesClient {
  /**
   * Copies the runs up to a given one (default: the latest), or before one, into a new session. `metadata.forked_from` names
   * the original.
   */
  fork(sessionId: string, fork?: ForkSessionRequest, options?: KeyedOptions): Promise<Session>
  /**
   * Streams the whole session as JSON lines. The last line has the type `end`. Leaving the loop closes the request. Without
   * `events`, the runs have no event streams.
   */
  export(
    sessionId: string,
    options?: CallOptions & { events?: boolean | undefined },
  ): Promise<AsyncIterableIterator<string>>
  /** Imports the output of `export`, completely or not at all. Throws `conflict` if an id exists and `newIds` is not set. */
  import(lines: string | Uint8Array, options?: KeyedOptions & { newIds?: boolean | undefined }): Promise<Session>
}

/** The part of it that a page in a browser needs. */
export interface PageSessionCopiesClient extends Omit<SessionCopiesClient, 'import'> {
  import(lines: Uint8Array, options?: Parameters<SessionCopiesClient['import']>[1]): Promise<Session>
}

export function createSessionCopiesClient(connection: Connection, prefix: string): PageSessionCopiesClient {
  const path = `${prefix}/sessions`
  const of = (sessionId: string) => `${path}/${encodeURIComponent(sessionId)}`
  return {
    fork: (sessionId, fork = {}, options) => connection.post(`${of(sessionId)}/fork`, fork, 'keyed', options),
    async export(sessionId, { events, ...options } = {}) {
      const call = {
        ...options,
        method: 'GET',
        path: `${of(sessionId)}/export`,
        query: { events },
        repeat: 'safe',
      } as const
      const { body, end } = await connection.open(call, mediaType)
      return linesOf(body, end, connection.name)
    },
    import: (lines, { newIds, ...options } = {}) =>
      connection.json({
        ...options,
        method: 'POST',
        path: `${path}/import`,
        query: { new_ids: newIds },
        raw: { bytes: lines, mediaType },
        repeat: 'keyed',
        long: true,
      }),
  }
}

/** The lines of a text stream. `end` closes the stream. */
export async function* linesOf(body: AsyncIterable<Uint8Array>, end: () => void, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let pieces: string[] = []
  try {
    for await (const bytes of body) {
      const [first = '', ...rest] = decoder.decode(bytes, { stream: true }).split('\n')
      pieces.push(first)
      for (const piece of rest) {
        yield pieces.join('')
        pieces = [piece]
      }
    }
  } catch (error) {
    throw toNetworkError(error, name)
  } finally {
    end()
  }
  const last = pieces.join('')
  if (last !== '') yield last
}
