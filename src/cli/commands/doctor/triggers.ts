import type { ResolvedConfig } from '../../../config/types.ts'
import { dueTimes } from '../../../runtime/cron.ts'
import { type Finding, ok, warning } from './finding.ts'

/** What starts runs by itself, and who is told of them. Nothing without either. */
export function* checkTriggers({ schedules, webhooks, server }: ResolvedConfig): Generator<Finding> {
  for (const { name, agent, cron, timeZone, enabled } of schedules) {
    const nextMs = dueTimes(cron, timeZone).after(Date.now())
    const next = enabled && nextMs !== undefined ? `next at ${new Date(nextMs).toISOString()}` : 'off'
    yield ok('schedules', `${name}: ${agent}, ${cron} in ${timeZone}, ${next}`)
  }
  if (schedules.length > 0 && server.sessionStorage === 'memory') {
    yield warning(
      'schedules',
      'sessions are kept in memory, so what a restart misses is not made up for',
      'remove server.sessionStorage, or name a file or a database',
    )
  }
  for (const { name, url, contents, allowHttp, allowPrivate } of webhooks) {
    const open = [contents && 'with contents', allowHttp && 'http allowed', allowPrivate && 'private addresses allowed']
    yield ok('webhooks', [`${name}: ${new URL(url).host}`, ...open.filter((one) => one !== false)].join(', '))
  }
}
