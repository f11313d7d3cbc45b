import { AppError, isAppError } from '../core/error.ts'
import { version } from '../core/version.ts'
import { acceptedCodings, decoded } from './content-coding.ts'
import { type AddressRules, checkedLookup, checkedUrl } from './public-network.ts'

/** The rules for addresses also apply to redirects. */
export interface DownloadOptions extends AddressRules {
  signal: AbortSignal
  /** Refuse an address with a user or a password instead of sending them. */
  refuseCredentials?: boolean | undefined
  /** The value of Accept. Default: web pages first. */
  accept?: string | undefined
  /** Default 20 MB. */
  maxBytes?: number | undefined
  /** Time limit of the whole download. Default: 30 s. */
  timeoutMs?: number | undefined
  /** Validators of an earlier answer: the page is sent only if it has changed. */
  known?: Validators | undefined
}

export interface Validators {
  etag?: string | undefined
  lastModified?: string | undefined
}

export interface Page {
  /** Without its Content-Encoding. */
  bytes: Uint8Array
  /** As the server says it, parameters included. */
  mediaType: string | undefined
  validators: Validators
}

const maxRedirects = 5

/** The address without fragment, user and password, so that it can be stored and shown. */
export function publicAddress(address: string): string {
  return address.replace(/#.*$/s, '').replace(/^(https?:\/\/)[^/?]*@/i, '$1')
}

/**
 * Fetches a page from the internet; undefined if it has not changed. IP addresses are checked when the connection is made, so
 * that a name can't change its address in between. User and password are sent to the address's own origin only. Proxies of
 * the environment are not used: they would connect unchecked. Throws `invalid_request`, `payload_too_large` or
 * `unavailable` with the reason.
 */
export async function download(given: string, options: DownloadOptions): Promise<Page | undefined> {
  const { Agent, request } = await import('undici')
  const { maxBytes = 20_000_000, timeoutMs = 30_000, known = {} } = options
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)])
  const dispatcher = new Agent({ connect: { lookup: checkedLookup(options) } })
  const address = publicAddress(given)
  try {
    const credentials = credentialsOf(given)
    if (credentials !== undefined && options.refuseCredentials === true)
      throw refused(`${address} was given with a user or a password. Remove them.`)
    let url = checkedUrl(address, options)
    const { origin } = url
    for (let redirects = 0; ; redirects++) {
      const headers = {
        accept: options.accept ?? 'text/html, text/*, */*;q=0.5',
        'accept-encoding': acceptedCodings,
        'user-agent': `agentserve/${version}`,
        ...(known.etag === undefined ? {} : { 'if-none-match': known.etag }),
        ...(known.lastModified === undefined ? {} : { 'if-modified-since': known.lastModified }),
        ...(credentials === undefined || url.origin !== origin ? {} : { authorization: credentials }),
      }
      const answer = await request(url, { dispatcher, signal, headers })
      const header = (name: string) => {
        const value = answer.headers[name]
        return typeof value === 'string' ? value : undefined
      }
      const location = header('location')
      if (answer.statusCode === 304 && (known.etag ?? known.lastModified) !== undefined) return undefined
      if (answer.statusCode >= 300 && answer.statusCode < 400 && location !== undefined) {
        await answer.body.dump()
        if (redirects === maxRedirects) throw refused(`${address} redirects more than ${maxRedirects} times.`)
        url = redirected(location, url, address, options)
        continue
      }
      if (answer.statusCode !== 200) throw new AppError('unavailable', `${address} answered ${answer.statusCode}.`)
      if (Number(header('content-length')) > maxBytes) throw tooLarge(address, maxBytes)
      const body = decoded(answer.body, header('content-encoding'), address)
      const bytes = await readAtMost(body, maxBytes, address)
      const validators = { etag: header('etag'), lastModified: header('last-modified') }
      return { bytes, mediaType: header('content-type'), validators }
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

function redirected(location: string, from: URL, address: string, options: DownloadOptions): URL {
  const next = URL.parse(location, from.href)
  if (next === null) throw new AppError('unavailable', `${address} redirects to an invalid address.`)
  return checkedUrl(publicAddress(next.href), options)
}

async function readAtMost(body: AsyncIterable<Uint8Array>, maxBytes: number, address: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.byteLength
    if (size > maxBytes) throw tooLarge(address, maxBytes)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function credentialsOf(address: string): string | undefined {
  const { username = '', password = '' } = URL.parse(address) ?? {}
  if (username === '' && password === '') return undefined
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

function tooLarge(address: string, maxBytes: number): AppError {
  return new AppError('payload_too_large', `${address} has more than ${maxBytes / 1e6} MB.`)
}

function refused(message: string): AppError {
  return new AppError('invalid_request', message)
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}
