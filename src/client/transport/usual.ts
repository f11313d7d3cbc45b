import type { OpenTransport } from './transport.ts'
import { createUndiciTransport } from './undici.ts'

/** Of a client that is told no other: undici. The build for browsers has `usual.browser.ts` in its place. */
export function createUsualTransport(base: string): OpenTransport {
  return createUndiciTransport(base)
}
