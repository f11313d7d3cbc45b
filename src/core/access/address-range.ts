import { isIP } from 'node:net'

export interface AddressRange {
  address: string
  /** Length of the prefix. */
  bits: number
  version: 4 | 6
}

const longest = { 4: 32, 6: 128 } as const

/** Reads an address, a range such as `10.0.0.0/8`, or `loopback` for all loopback addresses; empty when invalid. */
export function parseAddressRanges(text: string): readonly AddressRange[] {
  if (text === 'loopback') return parseAddressRanges('127.0.0.0/8').concat(parseAddressRanges('::1'))
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if ((version !== 4 && version !== 6) || rest.length > 0 || address.includes('%')) return []
  if (bits === undefined) return [{ address, bits: longest[version], version }]
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > longest[version]) return []
  return [{ address, bits: Number(bits), version }]
}
