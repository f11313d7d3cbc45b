import type { IncomingHttpHeaders } from 'node:http'
import { createId } from '../core/id.ts'

const acceptable = /^[\x21-\x7e]{1,128}$/

/** The caller's `X-Request-Id` when it is 1–128 visible ASCII characters, so that it is safe to reflect; else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders, now: number): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && acceptable.test(given) ? given : createId('req', now)
}
