import { createHash } from 'node:crypto'
import { invalid } from '../../core/error.ts'
import type { HttpRequest, MultipartPart } from '../../http/request.ts'
import type { Idempotency } from '../../service/services.ts'

const visible = /^[\x21-\x7e]{1,255}$/

/**
 * The request's `Idempotency-Key`, bound to caller, user, route and body; undefined without the header. Throws
 * `invalid_request`. The user is included because a caller is an index in the list of keys, and the list may change.
 */
export async function readIdempotency(request: HttpRequest, route: string): Promise<Idempotency | undefined> {
  const key = keyOf(request, route)
  if (key === undefined) return undefined
  const hash = hashOf(request)
  // A retried form has another boundary each time, so its parts are compared, not its bytes.
  if (request.body.mediaType === 'multipart/form-data') addParts(hash, await request.body.multipart())
  else hash.update(await request.body.bytes())
  return { key, hash: hash.digest('hex'), whileRunning: 'conflict' }
}

/** The same for a body that is read line by line; its hash is complete when all lines are read. */
export function streamWithIdempotency(
  request: HttpRequest,
  route: string,
  maxLineBytes: number,
): { lines: AsyncGenerator<string>; idempotency: Idempotency | undefined } {
  const key = keyOf(request, route)
  const body = createHash('sha256')
  const lines = request.body.lines({ maxLineBytes, ...(key && { onBytes: (piece) => void body.update(piece) }) })
  const bodyHash = async () => {
    for await (const _line of lines);
    return body.digest('hex')
  }
  const idempotency = key && { key, hash: hashOf(request).digest('hex'), whileRunning: 'conflict' as const, bodyHash }
  return { lines, idempotency: idempotency || undefined }
}

function keyOf(request: HttpRequest, route: string): string | undefined {
  const header = request.headers['idempotency-key']
  if (header === undefined) return undefined
  if (typeof header !== 'string' || !visible.test(header)) {
    throw invalid('Idempotency-Key must be 1 to 255 visible ASCII characters.', 'Idempotency-Key')
  }
  return `${request.caller} ${request.userId ?? ''} ${route} ${header}`
}

function hashOf(request: HttpRequest): ReturnType<typeof createHash> {
  return createHash('sha256').update(`${request.path}?${request.query}\n`)
}

function addParts(hash: ReturnType<typeof createHash>, parts: readonly MultipartPart[]): void {
  for (const part of parts) {
    const value = part.kind === 'file' ? part.bytes : Buffer.from(part.value)
    const label = part.kind === 'file' ? [part.name, part.filename, part.mediaType] : [part.name]
    hash.update(`${JSON.stringify([...label, value.length])}\n`).update(value)
  }
}
