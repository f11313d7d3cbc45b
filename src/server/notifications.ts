import type { ResolvedConfig } from '../config/types.ts'
import { createNotice } from '../protocols/a2a/official/notice.ts'
import { nameServers } from '../runtime/name-servers.ts'
import { systemTimers } from '../runtime/timers.ts'
import { NotificationService, type NotificationsOptions } from '../service/notifications/notifications.ts'
import type { Sessions } from '../service/services.ts'

interface Given extends Pick<NotificationsOptions, 'store' | 'runs' | 'owner' | 'logger' | 'clock'> {
  sessions: () => Pick<Sessions, 'file'>
}

/** Undefined: push notifications are not configured. */
export function composeNotifications(
  { server }: ResolvedConfig,
  { sessions, ...given }: Given,
): NotificationService | undefined {
  const { a2a, prefix, limits } = server
  if (a2a.push === undefined) return undefined
  const file: Sessions['file'] = (sessionId, fileId) => sessions().file(sessionId, fileId)
  const { publicUrl } = a2a
  const notice = createNotice({ sessions: { file }, prefix, publicUrl, fileBytes: limits.fileBytes })
  const isShared = given.store.cluster !== undefined
  // Names of private networks may be in the hosts file only.
  const settings = a2a.push.allowPrivate ? a2a.push : { ...a2a.push, network: nameServers() }
  return new NotificationService({ ...given, settings, notice, isShared, timers: systemTimers })
}
