import { AppError } from '../../core/error.ts'
import { isObject } from '../../schema/field.ts'
import { plainLine } from '../base/redact.ts'

/** How an agent may be called, by the methods and objects of this version. */
export type Dialect = 'JSONRPC 1.0' | 'HTTP+JSON 1.0' | 'JSONRPC 0.3'

export interface PeerInterface {
  dialect: Dialect
  url: string
  tenant?: string
}

/** What is used of an agent's card. */
export interface Card {
  streaming: boolean
  /** The best one first. */
  interfaces: PeerInterface[]
}

const ranks: readonly Dialect[] = ['JSONRPC 1.0', 'HTTP+JSON 1.0', 'JSONRPC 0.3']
/** More are not looked at. */
const maxInterfaces = 100

interface Declared {
  url: unknown
  binding: unknown
  version: unknown
  tenant?: unknown
}

/** Whether a JSON value can be a card at all. */
export function isCard(value: unknown): value is Record<string, unknown> {
  return isObject(value) && (Array.isArray(value.supportedInterfaces) || typeof value.url === 'string')
}

/**
 * The card at `address`. Only interfaces of its own origin, and of `origins`, are used: the key goes there. Throws `run_failed`
 * when none is left.
 */
export function readCard(card: Record<string, unknown>, address: URL, origins: readonly string[]): Card {
  const allowed = new Set([address.origin, ...origins])
  const interfaces: PeerInterface[] = []
  const others: string[] = []
  const elsewhere = new Set<string>()
  for (const declared of declaredBy(card).slice(0, maxInterfaces)) {
    const dialect = dialectOf(declared)
    const url = typeof declared.url === 'string' ? URL.parse(declared.url, address.href) : null
    if (dialect === undefined) others.push(`${shown(declared.binding)} ${shown(declared.version)}`)
    else if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== '')
      others.push(`${dialect} at an address that is not http or https`)
    else if (!allowed.has(url.origin)) elsewhere.add(url.origin)
    else {
      url.hash = ''
      const tenant = typeof declared.tenant === 'string' && declared.tenant !== '' ? { tenant: declared.tenant } : {}
      interfaces.push({ dialect, url: url.href, ...tenant })
    }
  }
  if (interfaces.length === 0) throw notUsable(address, [...elsewhere], others)
  interfaces.sort((one, other) => ranks.indexOf(one.dialect) - ranks.indexOf(other.dialect))
  return { streaming: isObject(card.capabilities) && card.capabilities.streaming === true, interfaces }
}

/** Of version 1.0 and of 0.3; a card for both has both. */
function declaredBy(card: Record<string, unknown>): Declared[] {
  const { supportedInterfaces, url, preferredTransport = 'JSONRPC', protocolVersion, additionalInterfaces } = card
  const declared: Declared[] = []
  for (const one of listOf(supportedInterfaces)) {
    const { url, protocolBinding: binding, protocolVersion: version = '1.0', tenant } = one
    declared.push({ url, binding, version, tenant })
  }
  if (typeof url !== 'string') return declared
  const version = typeof protocolVersion === 'string' ? protocolVersion : '0.3.0'
  declared.push({ url, binding: preferredTransport, version })
  for (const { url, transport: binding } of listOf(additionalInterfaces)) declared.push({ url, binding, version })
  return declared
}

function dialectOf({ binding, version }: Declared): Dialect | undefined {
  const [, major, minor = '0'] = /^(\d+)(?:\.(\d+))?/.exec(String(version)) ?? []
  const transport = typeof binding === 'string' ? binding.toUpperCase() : ''
  if (major === '1' && (transport === 'JSONRPC' || transport === 'HTTP+JSON')) return `${transport} 1.0`
  // The wire format is the same since 0.2.
  return major === '0' && Number(minor) >= 2 && transport === 'JSONRPC' ? 'JSONRPC 0.3' : undefined
}

function notUsable(address: URL, elsewhere: readonly string[], others: readonly string[]): AppError {
  if (elsewhere.length > 0) {
    return new AppError(
      'run_failed',
      `its card at ${placeOf(address)} points to ${elsewhere.slice(0, 3).join(' and ')}, another origin than its own. Add that to \`origins\` if it may have your key and your messages`,
    )
  }
  const offered = others.length === 0 ? 'no interface' : [...new Set(others)].slice(0, 5).join(', ')
  return new AppError(
    'run_failed',
    `its card at ${placeOf(address)} offers ${offered}; this side speaks ${ranks.join(', ')}`,
  )
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.slice(0, maxInterfaces).filter(isObject) : []
}

/** An address for messages: what follows the path may be a key. */
export function placeOf({ origin, pathname }: URL): string {
  return origin + pathname
}

function shown(value: unknown): string {
  return typeof value === 'string' ? plainLine(value).slice(0, 40) : '?'
}
