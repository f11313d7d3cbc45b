import type { Dispatcher } from 'undici'
import { AppError, isAppError } from '../core/error.ts'
import { version } from '../core/version.ts'
import { acceptedCodings, decoded } from './content-coding.ts'
import { type AddressRules, checkedLookup, checkedUrl } from './public-network.ts'

export interface RequestOptions {
  signal: AbortSignal
  /** The value of Accept. Default: web pages first. */
  accept?: string | undefined
  /** Default 20 MB. */
  maxBytes?: number | undefined
  /** Time limit of the whole download. Default: 30 s. */
  timeoutMs?: number | undefined
  /** Validators of an earlier answer: the page is sent only if it has changed. */
  known?: Validators | undefined
}

/** The rules for addresses also apply to redirects. */
export interface DownloadOptions extends AddressRules, RequestOptions {
  /** Refuse an address with a user or a password instead of sending them. */
  refuseCredentials?: boolean | undefined
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

/** What one request was answered: redirects are not followed, and the status may be an error's. */
export interface Answer extends Page {
  status: number
  /** Where a redirect leads, without user and password. Not checked. */
  location: URL | undefined
  /** Several values are joined by commas. */
  header(name: string): string | undefined
}

/** Connections that are made to checked addresses only, and used again. */
export interface Connections {
  rules: AddressRules
  dispatcher: Dispatcher
  close(): Promise<void>
}

export interface AnswerOptions extends RequestOptions {
  authorization?: string | undefined
  /** By its media type, whether the body is read. Default: always. */
  wants?: ((mediaType: string) => boolean) | undefined
  /** How errors name the address. Default: the address itself. */
  named?: string | undefined
}

const maxRedirects = 5
const maxPageBytes = 20_000_000
const pageTimeoutMs = 30_000

/** The address in its usual form without fragment, user and password, so that it can be stored and shown. */
export function publicAddress(address: string): string {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol))
    return address.replace(/#.*$/s, '').replace(/^([a-z]+:[/\\]*)[^/\\?]*@/i, '$1')
  url.username = ''
  url.password = ''
  url.hash = ''
  return url.href
}

/** Proxies of the environment are not used: they would connect unchecked. */
export async function openConnections(rules: AddressRules): Promise<Connections> {
  const { Agent } = await import('undici')
  const dispatcher = new Agent({ connect: { lookup: checkedLookup(rules) } })
  return { rules, dispatcher, close: () => dispatcher.destroy() }
}

/**
 * Fetches a page from the internet; undefined if it has not changed. IP addresses are checked when the connection is made, so
 * that a name can't change its address in between. User and password are sent to the address's own origin only. Throws
 * `invalid_request`, `payload_too_large` or `unavailable` with the reason.
 */
export async function download(given: string, options: DownloadOptions): Promise<Page | undefined> {
  const { timeoutMs = pageTimeoutMs, known } = options
  const named = publicAddress(given)
  const credentials = credentialsOf(given)
  if (credentials !== undefined && options.refuseCredentials === true)
    throw refused(`${named} was given with a user or a password. Remove them.`)
  const deadline = AbortSignal.timeout(timeoutMs)
  let url = checkedUrl(named, options)
  const { origin } = url
  const connections = await openConnections(options)
  try {
    for (let redirects = 0; ; redirects++) {
      const authorization = url.origin === origin ? credentials : undefined
      const answer = await request(url, connections, { ...options, authorization, named }, deadline)
      if (answer.status === 304 && (known?.etag ?? known?.lastModified) !== undefined) return undefined
      if (answer.location !== undefined) {
        if (redirects === maxRedirects) throw refused(`${named} redirects more than ${maxRedirects} times.`)
        url = checkedUrl(answer.location.href, options)
        continue
      }
      if (answer.status !== 200) throw new AppError('unavailable', `${named} answered ${answer.status}.`)
      return answer
    }
  } finally {
    await connections.close()
  }
}

/** Makes one request to an address that the rules of the connections allow. Throws as `download` does, not for a status. */
export async function fetchAnswer(address: string, connections: Connections, options: AnswerOptions): Promise<Answer> {
  const url = checkedUrl(address, connections.rules)
  return request(url, connections, options, AbortSignal.timeout(options.timeoutMs ?? pageTimeoutMs))
}

async function request(
  url: URL,
  { dispatcher }: Connections,
  options: AnswerOptions,
  deadline: AbortSignal,
): Promise<Answer> {
  const undici = await import('undici')
  const { maxBytes = maxPageBytes, timeoutMs = pageTimeoutMs, named = url.href, wants } = options
  const signal = AbortSignal.any([options.signal, deadline])
  try {
    const answer = await undici.request(url, { dispatcher, signal, headers: headersOf(options) })
    const header = (name: string) => {
      const value = answer.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    }
    /** Two values of these say nothing. */
    const one = (name: string) => (Array.isArray(answer.headers[name]) ? undefined : header(name))
    const status = answer.statusCode
    const mediaType = one('content-type')
    const validators = { etag: one('etag'), lastModified: one('last-modified') }
    const found = { status, mediaType, validators, header, location: undefined, bytes: new Uint8Array() }
    const isWanted = status === 200 && wants?.(mediaType ?? '') !== false
    if (!isWanted) {
      await answer.body.dump()
      return { ...found, location: locationOf(status, one('location'), url, named) }
    }
    if (Number(header('content-length')) > maxBytes) throw tooLarge(named, maxBytes)
    const body = decoded(answer.body, header('content-encoding'), named)
    return { ...found, bytes: await readAtMost(body, maxBytes, named) }
  } catch (error) {
    options.signal.throwIfAborted()
    const known = isAppError(error) ? error : (error as Error).cause
    if (isAppError(known)) throw known
    const reason = signal.aborted ? `it took longer than ${timeoutMs} ms` : reasonOf(error)
    throw new AppError('unavailable', `${named} can't be fetched: ${reason}.`, { cause: error })
  }
}

function headersOf({ accept, known = {}, authorization }: AnswerOptions): Record<string, string> {
  return {
    accept: accept ?? 'text/html, text/*, */*;q=0.5',
    'accept-encoding': acceptedCodings,
    'user-agent': `agentserve/${version}`,
    ...(known.etag === undefined ? {} : { 'if-none-match': known.etag }),
    ...(known.lastModified === undefined ? {} : { 'if-modified-since': known.lastModified }),
    ...(authorization === undefined ? {} : { authorization }),
  }
}

function locationOf(status: number, location: string | undefined, from: URL, named: string): URL | undefined {
  if (status < 300 || status >= 400 || location === undefined) return undefined
  const next = URL.parse(location, from.href)
  if (next === null) throw new AppError('unavailable', `${named} redirects to an invalid address.`)
  return new URL(publicAddress(next.href))
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

/** The value of Authorization for the user and password of an address; undefined without them. */
export function credentialsOf(address: string): string | undefined {
  const { username = '', password = '' } = URL.parse(address) ?? {}
  if (username === '' && password === '') return undefined
  return `Basic ${Buffer.from(`${unescaped(username)}:${unescaped(password)}`).toString('base64')}`
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A lone % stands for itself.
    return text
  }
}

function tooLarge(address: string, maxBytes: number): AppError {
  return new AppError('payload_too_large', `${address} has more than ${maxBytes / 1e6} MB.`)
}

function refused(message: string): AppError {
  return new AppError('invalid_request', message)
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'no host has that name',
  EAI_AGAIN: 'the name of its host could not be looked up',
  ECONNRESET: 'the connection was lost',
  UND_ERR_SOCKET: 'the connection was lost',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === undefined) return message
  // Of zlib and of Brotli.
  if (/^(?:Z_|ERR__?ERROR_)/.test(code)) return 'its compressed content is damaged or cut off'
  return reasons[code] === undefined ? code : `${reasons[code]} (${code})`
}
