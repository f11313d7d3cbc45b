import { AppError } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time.ts'
import { networkOf } from './address.ts'
import type { Credential } from './auth.ts'

export interface WrongKeys {
  /** Counts a request with a wrong or missing key. Throws `rate_limited` if the address had too many. */
  refuse(address: string | undefined, hasKey: boolean): void
  /** Logs the requests that are not logged yet. */
  close(): void
}

export interface WrongKeysOptions {
  clock: Clock
  logger: Logger
  /** What the server takes. */
  taken?: Credential | undefined
  /** Told with each line of the log. */
  onWrongKeys?: ((counted: { requests: number; addresses: number }) => void) | undefined
}

const words: Readonly<Record<Credential, { many: string; one: string }>> = {
  key: { many: 'API keys', one: 'key' },
  token: { many: 'tokens', one: 'token' },
  either: { many: 'API keys or tokens', one: 'one' },
}
const maxInMinute = 20
const minuteMs = 60_000
/** Above this number the oldest entry is removed, so that the table does not grow with an attack. */
const manyNetworks = 10_000

interface NetworkRecord {
  wrong: number
  untilMs: number
}

/**
 * After 20 wrong keys in a minute, requests from an address are refused for a minute, except with a right key. That
 * saves work and logs the attack, one line per minute; the length of the keys is what prevents guessing.
 */
export function createWrongKeys({ clock, logger, taken = 'key', onWrongKeys }: WrongKeysOptions): WrongKeys {
  const { many, one } = words[taken]
  const networks = new Map<string, NetworkRecord>()
  let counted = 0
  let from = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  function recordOf(network: string, now: number): NetworkRecord | undefined {
    const record = networks.get(network)
    if (record === undefined || record.untilMs > now) return record
    networks.delete(network)
    return undefined
  }

  function log(): void {
    clearTimeout(timer)
    timer = undefined
    if (counted === 0) return
    logger.warn({ wrong_keys: counted, addresses: from.size }, `requests had wrong ${many}`)
    onWrongKeys?.({ requests: counted, addresses: from.size })
    counted = 0
    from = new Set()
  }

  function remember(network: string): void {
    counted++
    if (from.size < manyNetworks) from.add(network)
    timer ??= setTimeout(log, minuteMs).unref()
  }

  function count(network: string, record: NetworkRecord | undefined, now: number): void {
    if (record !== undefined) {
      if (++record.wrong === maxInMinute) record.untilMs = now + minuteMs
      return
    }
    const oldest = networks.size < manyNetworks ? undefined : networks.keys().next().value
    if (oldest !== undefined) networks.delete(oldest)
    networks.set(network, { wrong: 1, untilMs: now + minuteMs })
  }

  return {
    refuse(address, hasKey) {
      const network = address === undefined ? '' : networkOf(address)
      const now = clock()
      const record = recordOf(network, now)
      if (hasKey) remember(network)
      if (record === undefined || record.wrong < maxInMinute) {
        if (hasKey) count(network, record, now)
        return
      }
      throw new AppError('rate_limited', `Too many wrong ${many} from this address. Send a valid ${one}, or wait.`, {
        retryAfterSeconds: (record.untilMs - now) / 1000,
      })
    },
    close: log,
  }
}
