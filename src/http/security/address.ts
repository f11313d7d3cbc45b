import { BlockList, isIP, isIPv4 } from 'node:net'
import { parseAddressRanges } from '../../core/access/address-range.ts'

/** Whether a peer is one of these proxies. */
export type IsProxy = (peer: string) => boolean

export function createIsProxy(proxies: readonly string[]): IsProxy {
  if (proxies.length === 0) return () => false
  const trusted = new BlockList()
  for (const { address, bits, version } of proxies.flatMap(parseAddressRanges)) {
    trusted.addSubnet(address, bits, `ipv${version}`)
  }
  return (peer) => {
    const address = plainAddress(peer)
    return trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
  }
}

export type AddressOf = (peer: string | undefined, forwardedFor: string | undefined) => string | undefined

const maxProxies = 32

/**
 * `proxies` are the addresses and ranges whose `X-Forwarded-For` is trusted. Read from the right, each proxy has added
 * its caller's address; the first address that is not a trusted proxy is the caller. Addresses further left may be
 * forged.
 */
export function createAddressOf(proxies: readonly string[]): AddressOf {
  if (proxies.length === 0) return (peer) => (peer === undefined ? undefined : plainAddress(peer))
  const isTrusted = createIsProxy(proxies)
  return (peer, forwardedFor) => {
    if (peer === undefined) return undefined
    let address = plainAddress(peer)
    if (forwardedFor === undefined || !isTrusted(address)) return address
    const hops = forwardedFor.split(',').slice(-maxProxies).reverse()
    for (const hop of hops) {
      const next = withoutPort(hop.trim())
      if (isIP(next) === 0) return address
      address = plainAddress(next)
      if (!isTrusted(address)) return address
    }
    return address
  }
}

/** The unit of limits: an IPv4 address, or the /64 of an IPv6 address, the smallest block that is assigned. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
  return `${groups.slice(0, 4).join(':')}::/64`
}

/** Removes the zone and unwraps an IPv4-mapped address. */
function plainAddress(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const zone = address.indexOf('%')
  return zone === -1 ? address : address.slice(0, zone)
}

function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop
}
