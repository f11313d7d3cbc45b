import type { Logger } from '../../../src/core/logger.ts'
import type { Runnable } from '../../../src/core/runnable.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import type { Timers } from '../../../src/core/time.ts'
import type { Notice } from '../../../src/service/notifications/notice.ts'
import { NotificationService } from '../../../src/service/notifications/notifications.ts'
import type { PushSettings } from '../../../src/service/notifications/target.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { openServices } from '../../support/services.ts'

export const settings: PushSettings = {
  allowHttp: true,
  allowPrivate: true,
  hosts: [],
  configs: 2,
  timeoutMs: 10_000,
}

/** Pauses between attempts take no time. */
const hastyTimers = (pauses: number[]): Timers => ({
  set(callback, ms) {
    pauses.push(ms)
    return setTimeout(callback, Math.min(ms, 2))
  },
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
})

/** What tests look at: the status, and whether it is the first notification. */
const notice: Notice = async (run, version, isFirst) => [
  {
    contentType: 'application/json',
    body: JSON.stringify({ run_id: run.run_id, status: run.status, version, isFirst }),
  },
]

export interface Told {
  level: 'warn' | 'error'
  fields: object
  message: string
}

export interface Options {
  store?: SessionStore
  owner?: string
  more?: Partial<PushSettings>
  notice?: Notice
  timers?: Timers
}

/** The services of one process, with notifications. */
export async function openNotifying(entities: Record<string, Runnable>, options: Options = {}) {
  const { store: plain = memoryStore(), owner = 'one', more = {} } = options
  const told: Told[] = []
  const pauses: number[] = []
  const tell = (level: Told['level']) => (fields: object, message?: string) =>
    void told.push({ level, fields, message: message ?? '' })
  const nothing = () => {}
  const logger: Logger = { debug: nothing, info: nothing, warn: tell('warn'), error: tell('error') }
  const notifications: NotificationService = new NotificationService({
    store: plain,
    runs: () => services.runs,
    settings: { ...settings, ...more },
    notice: options.notice ?? notice,
    owner: () => owner,
    isShared: false,
    logger,
    clock: Date.now,
    timers: options.timers ?? hastyTimers(pauses),
  })
  const services = await openServices(entities, notifications.watching(plain))
  return { ...services, notifications, told, pauses }
}
