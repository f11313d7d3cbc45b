import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../core/error.ts'

/**
 * Refuses requests that another page in the user's browser could have sent: text/plain and multipart need no preflight,
 * so CORS alone does not stop them. Only for methods that change data; throws `forbidden`.
 */
export function checkOrigin(headers: IncomingHttpHeaders, isAllowed: (origin: string) => boolean): void {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  if (origin === undefined && site === undefined) return
  if (origin !== undefined && isAllowed(origin)) return
  const foreignSite = site === 'cross-site' || site === 'same-site'
  if (!foreignSite && (origin === undefined || isSameOrigin(origin, headers.host))) return
  throw new AppError(
    'forbidden',
    `Requests from ${origin === undefined || origin === 'null' ? 'another site' : `the origin '${printable(origin)}'`} may not change anything on this server. Allow the origin with allowOrigins.`,
  )
}

export function changesState(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** A proxy may terminate TLS, so the schemes may differ; host and port must match. */
function isSameOrigin(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false
  const { protocol, hostname, port } = new URL(origin)
  const defaultPort = defaultPorts[protocol]
  if (defaultPort === undefined || !URL.canParse(`${protocol}//${host}`)) return false
  const own = new URL(`${protocol}//${host}`)
  return own.hostname === hostname && (own.port || defaultPort) === (port || defaultPort)
}

function printable(origin: string): string {
  return origin.slice(0, 200).replace(/[^\x20-\x7e]/g, '?')
}
