import { AppError } from '../core/error.ts'
import type { Exchange } from './exchange.ts'
import type { KernelSettings } from './options.ts'
import { networkOf } from './security/address.ts'

/** Maximum remembered callers. Above it, callers with a full quota are forgotten. */
const manyCallers = 10_000
const minuteMs = 60_000

interface Allowance {
  left: number
  atMs: number
}

/**
 * Allows a caller `requestsPerMinute` at once, refilled over each minute; throws `rate_limited` above. Sets
 * `RateLimit-Limit`, `-Remaining` and `-Reset` (seconds until the quota is full) on the answer. Undefined without a
 * limit.
 */
export function createRateLimit({ limits, clock }: Pick<KernelSettings, 'limits' | 'clock'>) {
  if (limits.requestsPerMinute === undefined) return undefined
  const most = limits.requestsPerMinute
  const allowances = new Map<string, Allowance>()
  const msEach = minuteMs / most

  const refilled = ({ left, atMs }: Allowance, now: number): number =>
    Math.min(most, left + Math.max(0, now - atMs) / msEach)

  function forgetIdle(now: number): void {
    for (const [caller, allowance] of allowances) if (refilled(allowance, now) >= most) allowances.delete(caller)
  }

  return (exchange: Exchange): void => {
    const { caller, remoteAddress } = exchange
    const key = caller === 'anonymous' ? networkOf(remoteAddress ?? '') : caller
    const now = clock()
    const known = allowances.get(key)
    if (known === undefined && allowances.size >= manyCallers) forgetIdle(now)
    const before = known === undefined ? most : refilled(known, now)
    const left = before < 1 ? before : before - 1
    allowances.set(key, { left, atMs: now })
    exchange.commonHeaders = [
      ...exchange.commonHeaders,
      'RateLimit-Limit',
      String(most),
      'RateLimit-Remaining',
      String(Math.floor(left)),
      'RateLimit-Reset',
      String(Math.ceil(((most - left) * msEach) / 1000)),
    ]
    if (before >= 1) return
    throw new AppError('rate_limited', `More than ${most} requests per minute. Wait before you send more.`, {
      retryAfterSeconds: ((1 - before) * msEach) / 1000,
    })
  }
}
