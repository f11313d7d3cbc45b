import { createHash } from 'node:crypto'
import { invalid } from '../core/error.ts'
import type { HttpRequest, MultipartPart } from '../http/request.ts'
import type { Idempotency } from '../service/services.ts'

const visible = /^[\x21-\x7e]{1,255}$/

/**
 * The request's `Idempotency-Key`, bound to caller, user, route and body; undefined when it has none. Throws
 * `invalid_request`. The user, since a caller is a place in the list of keys, which another may have tomorrow.
 */
export async function readIdempotency(request: HttpRequest, route: string): Promise<Idempotency | undefined> {
  const header = request.headers['idempotency-key']
  if (header === undefined) return undefined
  if (typeof header !== 'string' || !visible.test(header)) {
    throw invalid('Idempotency-Key must be 1 to 255 visible ASCII characters.', 'Idempotency-Key')
  }
  const hash = createHash('sha256').update(`${request.path}?${request.query}\n`)
  // A repeated form has another boundary each time, so its parts are compared, not its bytes.
  if (request.body.mediaType === 'multipart/form-data') addParts(hash, await request.body.multipart())
  else hash.update(await request.body.bytes())
  const key = `${request.caller} ${request.userId ?? ''} ${route} ${header}`
  return { key, hash: hash.digest('hex'), whileRunning: 'conflict' }
}

function addParts(hash: ReturnType<typeof createHash>, parts: readonly MultipartPart[]): void {
  for (const part of parts) {
    const value = part.kind === 'file' ? part.bytes : Buffer.from(part.value)
    const label = part.kind === 'file' ? [part.name, part.filename, part.mediaType] : [part.name]
    hash.update(`${JSON.stringify([...label, value.length])}\n`).update(value)
  }
}
