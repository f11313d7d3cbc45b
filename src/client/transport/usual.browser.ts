import { createFetchTransport, type OpenTransport } from './transport.ts'

/** What `usual.ts` is in browsers: the page's `fetch`, as it is when a request is sent. */
export function createUsualTransport(base: string): OpenTransport {
  return createFetchTransport(base, (input, init) => globalThis.fetch(input, init))
}
