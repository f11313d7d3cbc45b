import type { LookupAddress, LookupOptions } from 'node:dns'
import { lookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { AppError, isAppError } from '../core/error.ts'
import { version } from '../core/version.ts'
import { acceptedCodings, decoded } from './content-coding.ts'

export interface DownloadOptions {
  /** Allow `http:` too, not only `https:`. */
  allowHttp: boolean
  /** Allow private addresses too, not only those of the public internet. This also applies to redirects. */
  allowPrivate: boolean
  signal: AbortSignal
  /** Added to the error for an address that these options do not allow. */
  advice?: { http: string; private: string } | undefined
  /** Refuse an address with a user or a password instead of sending them. */
  refuseCredentials?: boolean | undefined
  /** The value of Accept. Default: web pages first. */
  accept?: string | undefined
  /** Default: the network of this machine. */
  network?: Network | undefined
  /** Default 20 MB. */
  maxBytes?: number | undefined
  /** Time limit of the whole download. Default: 30 s. */
  timeoutMs?: number | undefined
  /** Validators of an earlier answer: the page is sent only if it has changed. */
  known?: Validators | undefined
}

/** How names become addresses, and addresses connections. */
export interface Network {
  lookup(hostname: string, options: LookupOptions & { all: true }): Promise<LookupAddress[]>
  /** The address to connect to in place of one that has passed the checks. */
  reach?(address: string): string
}

const machine: Network = { lookup }

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

function checkedUrl(address: string, options: DownloadOptions): URL {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) throw refused(`'${address}' is not an https:// address.`)
  if (url.protocol === 'http:' && !options.allowHttp)
    throw refused(`${address} is not encrypted.${adviceOf(options, 'http')}`)
  // There is no DNS look-up for an IP literal.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (ipaddr.isValid(host)) assertAllowed(host, options)
  return url
}

function redirected(location: string, from: URL, address: string, options: DownloadOptions): URL {
  const next = URL.parse(location, from.href)
  if (next === null) throw new AppError('unavailable', `${address} redirects to an invalid address.`)
  return checkedUrl(publicAddress(next.href), options)
}

function checkedLookup(settings: DownloadOptions): LookupFunction {
  const { network = machine } = settings
  return (hostname, options, callback) => {
    network.lookup(hostname, { ...options, all: true }).then(
      (found) => {
        try {
          for (const { address } of found) assertAllowed(address, settings)
        } catch (error) {
          return callback(error as NodeJS.ErrnoException, '')
        }
        const places = found.map((one) => ({ ...one, address: network.reach?.(one.address) ?? one.address }))
        if (options.all) callback(null, places)
        else callback(null, places[0]?.address ?? '', places[0]?.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }
}

function assertAllowed(address: string, options: DownloadOptions): void {
  if (options.allowPrivate || isPublic(address)) return
  throw refused(`${address} is not an address on the public internet.${adviceOf(options, 'private')}`)
}

function isPublic(address: string): boolean {
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  // Other parts of the IPv6 space are not global unicast (RFC 4291), such as ::7f00:1 for 127.0.0.1.
  return parsed.kind() === 'ipv4' || (parsed.toByteArray()[0] ?? 0) >> 5 === 1
}

function adviceOf({ advice }: DownloadOptions, kind: 'http' | 'private'): string {
  return advice === undefined ? '' : ` ${advice[kind]}`
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
