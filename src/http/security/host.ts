import { isIP, isIPv4, isIPv6 } from 'node:net'
import { AppError, invalid } from '../../core/error.ts'

export interface HostRules {
  /** Names that may be used besides loopback names and IP literals, without a port. */
  allowHosts: readonly string[]
  /** The address that the server listens on; undefined for every interface, or if another server listens. */
  boundHost: string | undefined
  /** With keys, a server that is not bound to loopback accepts any name. */
  authenticated: boolean
}

const remembered = 256

export function isLoopback(host: string): boolean {
  const name = withoutBrackets(host).toLowerCase()
  if (isIPv4(name)) return name.startsWith('127.')
  if (isIPv6(name)) return name === '::1' || /^(0+:){7}0*1$/.test(name) || name.startsWith('::ffff:127.')
  return name === 'localhost' || name.endsWith('.localhost')
}

/**
 * Checks the Host header against DNS rebinding, which needs a name: loopback names and IP literals pass, other names
 * only when allowed. Throws `misdirected_request`, or `invalid_request` for a malformed header.
 */
export function createHostCheck(rules: HostRules): (host: string | undefined) => void {
  const anyName = rules.authenticated && !(rules.boundHost !== undefined && isLoopback(rules.boundHost))
  const names = new Set(
    [...rules.allowHosts, ...(rules.boundHost === undefined ? [] : [rules.boundHost])].map(plainName),
  )
  const accepted = new Set<string>()
  return (host) => {
    if (host !== undefined && accepted.has(host)) return
    const name = parseHost(host)
    if (!anyName && !isLoopback(name) && isIP(name) === 0 && !names.has(name)) {
      throw new AppError(
        'misdirected_request',
        `The host '${name}' is not allowed. Allow it with allowHosts, --allow-host or AGENTSERVE_ALLOW_HOSTS.`,
      )
    }
    if (host !== undefined && accepted.size < remembered) accepted.add(host)
  }
}

/** The name or address of a Host header in lower case, without port, brackets and a trailing dot (RFC 9110 7.2). */
function parseHost(header: string | undefined): string {
  const match =
    header === undefined ? null : /^(\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)(?::\d{1,5})?$/i.exec(header)
  const name = match?.[1]
  if (name === undefined) throw invalid('The request must have exactly one valid Host header.')
  const plain = plainName(name)
  if (name.startsWith('[') && !isIPv6(plain)) throw invalid('The request must have exactly one valid Host header.')
  return plain
}

function plainName(host: string): string {
  const name = withoutBrackets(host).toLowerCase()
  return name.endsWith('.') ? name.slice(0, -1) : name
}

function withoutBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}
