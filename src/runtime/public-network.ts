import type { LookupAddress, LookupOptions } from 'node:dns'
import { lookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { AppError } from '../core/error.ts'

/** Which addresses of the web this server may connect to. */
export interface AddressRules {
  /** Allow `http:` too, not only `https:`. */
  allowHttp: boolean
  /** Allow private addresses too, not only those of the public internet. */
  allowPrivate: boolean
  /** Added to the error for an address that these rules do not allow. */
  advice?: { http: string; private: string } | undefined
  /** Default: the network of this machine. */
  network?: Network | undefined
}

/** How names become addresses, and addresses connections. */
export interface Network {
  lookup(hostname: string, options: LookupOptions & { all: true }): Promise<LookupAddress[]>
  /** The address to connect to in place of one that has passed the checks. */
  reach?(address: string): string
}

const machine: Network = { lookup }

/** Throws `invalid_request` for anything but a web address that the rules allow. Names are not looked up. */
export function checkedUrl(address: string, rules: AddressRules): URL {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) throw refused(`'${address}' is not an https:// address.`)
  if (url.protocol === 'http:' && !rules.allowHttp)
    throw refused(`${address} is not encrypted.${adviceOf(rules, 'http')}`)
  // There is no DNS look-up for an IP literal.
  const host = hostOf(url)
  if (ipaddr.isValid(host)) assertAllowed(host, rules)
  return url
}

/**
 * Looks the name in an allowed address up. Throws `invalid_request` when it leads nowhere, or to an address that is not allowed:
 * the error is the same, so that nobody learns what private names stand for.
 */
export async function assertReachable(url: URL, rules: AddressRules): Promise<void> {
  const host = hostOf(url)
  if (ipaddr.isValid(host)) return
  const { network = machine } = rules
  const found = await network.lookup(host, { all: true }).catch(() => [])
  if (found.length > 0 && found.every(({ address }) => isAllowed(address, rules))) return
  const what = rules.allowPrivate ? 'address' : 'address on the public internet'
  throw refused(`The name '${host}' leads to no ${what}.`)
}

/**
 * The addresses behind an allowed address, for programs that make their own connections. Throws `invalid_request` as
 * `assertReachable` does.
 */
export async function checkedPlaces(url: URL, rules: AddressRules): Promise<string[]> {
  const host = hostOf(url)
  if (ipaddr.isValid(host)) return [host]
  await assertReachable(url, rules)
  const { network = machine } = rules
  const found = await network.lookup(host, { all: true }).catch(() => [])
  for (const { address } of found) assertAllowed(address, rules)
  return found.map(({ address }) => address)
}

/** For a connection: it is made to the addresses that were checked, so that a name can't change its address in between. */
export function checkedLookup(rules: AddressRules): LookupFunction {
  const { network = machine } = rules
  return (hostname, options, callback) => {
    network.lookup(hostname, { ...options, all: true }).then(
      (found) => {
        try {
          for (const { address } of found) assertAllowed(address, rules)
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

function assertAllowed(address: string, rules: AddressRules): void {
  if (isAllowed(address, rules)) return
  throw refused(`${address} is not an address on the public internet.${adviceOf(rules, 'private')}`)
}

function isAllowed(address: string, { allowPrivate }: AddressRules): boolean {
  return allowPrivate || isPublic(address)
}

function isPublic(address: string): boolean {
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  // Other parts of the IPv6 space are not global unicast (RFC 4291), such as ::7f00:1 for 127.0.0.1.
  return parsed.kind() === 'ipv4' || (parsed.toByteArray()[0] ?? 0) >> 5 === 1
}

function adviceOf({ advice }: AddressRules, kind: 'http' | 'private'): string {
  return advice === undefined ? '' : ` ${advice[kind]}`
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function refused(message: string): AppError {
  return new AppError('invalid_request', message)
}
