import type { Exchange } from './exchange.ts'
import { isStream, type Reply, type ReplyBody } from './reply.ts'

const pageSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
export const jsonType = 'application/json; charset=utf-8'
/** How long the rest of a refused body is read and dropped, so that the client can read the error. */
const lingerMs = 1_000
/** Maximum rest of a body that is read to keep the connection. */
const smallRestBytes = 64 * 1024

/** Writes a reply, not a stream. Throws before it sends anything. A refusal may leave body unread. */
export function writePlain(exchange: Exchange, reply: Reply, refusal: boolean): void {
  const { outgoing, method } = exchange
  const { status } = reply
  const payload = encodeBody(reply.body)
  const bodiless = status === 204 || status === 304
  const headers = headOf(exchange, reply)
  if (!bodiless) {
    const length = typeof payload === 'string' ? Buffer.byteLength(payload) : (payload?.byteLength ?? 0)
    headers.push('Content-Length', String(length))
  }
  const abandoned = refusal && abandonsBody(exchange, status)
  if (abandoned && !exchange.closeConnection) headers.push('Connection', 'close')
  outgoing.writeHead(status, headers)
  exchange.status = status
  if (payload === undefined || bodiless) outgoing.end()
  else if (abandoned && method !== 'HEAD') endAfterRest(exchange, payload)
  else outgoing.end(payload)
}

/** The head without framing headers, as alternating names and values, which is node's fastest form. */
export function headOf(exchange: Exchange, reply: Reply): string[] {
  const headers = [
    'X-Request-Id',
    exchange.requestId,
    'X-Content-Type-Options',
    'nosniff',
    'Referrer-Policy',
    'no-referrer',
    'Cross-Origin-Resource-Policy',
    'same-origin',
  ]
  let ownPolicy = false
  let ownType = false
  if (reply.headers !== undefined) {
    for (const name in reply.headers) {
      const value = reply.headers[name]
      if (value === undefined) continue
      const lower = name.toLowerCase()
      if (lower === 'content-security-policy') ownPolicy = true
      else if (lower === 'content-type') ownType = true
      if (typeof value === 'string') headers.push(name, value)
      else for (const one of value) headers.push(name, one)
    }
  }
  const mediaType = mediaTypeOf(reply.body)
  if (mediaType !== undefined && !ownType) headers.push('Content-Type', mediaType)
  if (!ownPolicy && mediaType?.startsWith('text/html')) headers.push('Content-Security-Policy', pageSecurityPolicy)
  if (exchange.commonHeaders.length > 0) headers.push(...exchange.commonHeaders)
  if (exchange.closeConnection) headers.push('Connection', 'close')
  return headers
}

function mediaTypeOf(body: ReplyBody | undefined): string | undefined {
  if (body === undefined) return undefined
  if (body.kind === 'json') return jsonType
  return body.kind === 'sse' ? 'text/event-stream' : body.mediaType
}

function encodeBody(body: ReplyBody | undefined): string | Uint8Array | undefined {
  if (body === undefined || isStream(body)) return undefined
  if (body.kind === 'text') return body.text
  if (body.kind === 'bytes') return body.bytes
  return JSON.stringify(body.value) ?? 'null'
}

function abandonsBody({ incoming, awaitsContinue }: Exchange, status: number): boolean {
  if (incoming.complete || incoming.socket === undefined) return false
  // A client too slow for its body is too slow for the rest of it.
  if (status === 408) return true
  const length = incoming.headers['content-length']
  if (length === undefined) return incoming.headers['transfer-encoding'] !== undefined
  return awaitsContinue || Number(length) > smallRestBytes
}

/** Closing with unread bytes would reset the connection, and the client might lose the answer (RFC 9112 9.6). */
function endAfterRest({ incoming, outgoing }: Exchange, payload: string | Uint8Array): void {
  outgoing.write(payload)
  const finish = () => {
    clearTimeout(timer)
    incoming.off('end', finish).off('close', finish)
    outgoing.end()
  }
  const timer = setTimeout(finish, lingerMs)
  incoming.on('end', finish).on('close', finish)
  incoming.resume()
}
