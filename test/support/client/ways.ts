import type { Client, ClientOptions } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/create.ts'
import type { Transport } from '../../../src/client/transport/transport.ts'

/** What a client can go over. */
export const ways = ['undici', 'fetch', 'inject'] as const
export type Way = (typeof ways)[number]

export interface Reachable {
  url: string
  /** What `inject` goes to. */
  server?: { inject: Transport }
}

export function clientBy(way: Way, { url, server }: Reachable, options: Partial<ClientOptions> = {}): Client {
  if (way === 'inject' && server) return createClient({ transport: (request) => server.inject(request), ...options })
  return createClient(way === 'fetch' ? { url, fetch: globalThis.fetch, ...options } : { url, ...options })
}
