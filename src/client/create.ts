import { AppError } from '../core/error.ts'
import { type Client, type ClientOptions, clientOver } from './client.ts'
import { createFetchTransport, type OpenTransport } from './transport/transport.ts'
import { createUsualTransport } from './transport/usual.ts'

/** Opens no connection until the first call. Throws `invalid_request` for an invalid URL. */
export function createClient(options: ClientOptions): Client {
  if ('key' in options) {
    throw new AppError('invalid_request', 'createClient(): `key` is now called `apiKey`: rename it.')
  }
  const { transport, name } = chooseTransport(options)
  return clientOver(transport, name, options)
}

function chooseTransport({ url, fetch, transport }: ClientOptions): { transport: OpenTransport; name: string } {
  if (transport !== undefined) return { transport: { send: transport, async close() {} }, name: url ?? 'the server' }
  const base = checkUrl(url)
  return {
    transport: fetch === undefined ? createUsualTransport(base) : createFetchTransport(base, fetch),
    name: base,
  }
}

function checkUrl(url: string | undefined): string {
  // Not every browser has `URL.parse`.
  const parsed = url !== undefined && URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new AppError('invalid_request', `The server's URL must be http://… or https://…, not '${url ?? ''}'.`)
  }
  return parsed.origin + parsed.pathname.replace(/\/+$/, '')
}
