import { isIP, isIPv4 } from 'node:net'

export interface Address {
  /** Undefined: all interfaces. */
  host: string | undefined
  port: number
}

/** `host:port`, `:port` or `[v6]:port`; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text.trim())
  if (match === null) return undefined
  const [, v6, name = '', digits = ''] = match
  const port = Number(digits)
  const host = v6 ?? (name === '' ? undefined : name)
  if (port > 65_535 || (v6 !== undefined && isIP(v6) !== 6)) return undefined
  return host === undefined || isHost(host) ? { host, port } : undefined
}

/** A host name or an IP literal without brackets. */
export function isHost(text: string): boolean {
  return isIP(text) !== 0 || /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})$/.test(text)
}

/** Whether only this machine can connect. */
export function isLoopback(host: string | undefined): boolean {
  if (host === undefined) return false
  const name = host.toLowerCase()
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true
  return isIPv4(name) && name.startsWith('127.')
}
