import { lookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { AppError, isAppError } from '../core/error.ts'

export interface DownloadOptions {
  /** Else only `https:`. */
  allowHttp: boolean
  /** Else only addresses of the public internet, wherever a redirect leads. */
  allowPrivate: boolean
  signal: AbortSignal
  /** Default 20 MB. */
  maxBytes?: number | undefined
  /** Of all of it; default 30 s. */
  timeoutMs?: number | undefined
}

const maxRedirects = 5

/**
 * Fetches a page from the internet. Addresses are checked where the connection is made, so that no name can point
 * somewhere else in between. Throws `invalid_request`, `payload_too_large` or `unavailable` with the reason.
 */
export async function download(
  address: string,
  options: DownloadOptions,
): Promise<{ bytes: Uint8Array; mediaType: string | undefined }> {
  const { Agent, request } = await import('undici')
  const { maxBytes = 20_000_000, timeoutMs = 30_000 } = options
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)])
  const dispatcher = new Agent({ connect: options.allowPrivate ? {} : { lookup: publicLookup } })
  try {
    let url = checkedUrl(address, options)
    for (let redirects = 0; ; redirects++) {
      const answer = await request(url, { dispatcher, signal, headers: { accept: 'text/html, text/*, */*;q=0.5' } })
      const { location } = answer.headers
      if (answer.statusCode >= 300 && answer.statusCode < 400 && typeof location === 'string') {
        await answer.body.dump()
        if (redirects === maxRedirects) throw refused(`${address} redirects more than ${maxRedirects} times.`)
        url = checkedUrl(new URL(location, url).href, options)
        continue
      }
      if (answer.statusCode !== 200) throw new AppError('unavailable', `${address} answered ${answer.statusCode}.`)
      const bytes = await readAtMost(answer.body, maxBytes, address)
      const mediaType = answer.headers['content-type']
      return { bytes, mediaType: typeof mediaType === 'string' ? mediaType.split(';', 1)[0]?.trim() : undefined }
    }
  } catch (error) {
    options.signal.throwIfAborted()
    const known = isAppError(error) ? error : (error as Error).cause
    if (isAppError(known)) throw known
    const reason = signal.aborted ? `it took longer than ${timeoutMs} ms` : reasonOf(error)
    throw new AppError('unavailable', `${address} can't be fetched: ${reason}.`, { cause: error })
  } finally {
    await dispatcher.destroy()
  }
}

function checkedUrl(address: string, { allowHttp, allowPrivate }: DownloadOptions): URL {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) throw refused(`'${address}' is not an https:// address.`)
  if (url.protocol === 'http:' && !allowHttp) throw refused(`${address} is not encrypted; --allow-http fetches it.`)
  // An IP literal is connected to without a look-up.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (!allowPrivate && ipaddr.isValid(host)) assertPublic(host)
  return url
}

const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }).then(
    (found) => {
      try {
        for (const { address } of found) assertPublic(address)
      } catch (error) {
        return callback(error as NodeJS.ErrnoException, '')
      }
      if (options.all) callback(null, found)
      else callback(null, found[0]?.address ?? '', found[0]?.family)
    },
    (error: NodeJS.ErrnoException) => callback(error, ''),
  )
}

function assertPublic(address: string): void {
  if (ipaddr.process(address).range() !== 'unicast')
    throw refused(`${address} is not an address of the public internet; --allow-private fetches it.`)
}

async function readAtMost(body: AsyncIterable<Uint8Array>, maxBytes: number, address: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.byteLength
    if (size > maxBytes) throw new AppError('payload_too_large', `${address} has more than ${maxBytes} bytes.`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function refused(message: string): AppError {
  return new AppError('invalid_request', message)
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}
