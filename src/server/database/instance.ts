import { hostname } from 'node:os'
import { usualClusterTimes } from '../../config/settings/postgres.ts'
import type { ResolvedServerConfig } from '../../config/types.ts'
import type { Logger } from '../../core/logger.ts'
import type { SessionStore } from '../../core/store.ts'
import type { Clock } from '../../core/time.ts'
import { version } from '../../core/version.ts'
import { systemTimers } from '../../runtime/timers.ts'
import { Peers } from '../../service/peers/peers.ts'
import type { Registry } from '../../service/services.ts'
import type { ServerMode } from '../../wire/me.ts'
import { databaseOf } from './database.ts'

export interface InstanceOptions {
  store: SessionStore
  storage: ResolvedServerConfig['sessionStorage']
  registry: Pick<Registry, 'ids'>
  mode: ServerMode
  port: number
  owner: string
  logger: Logger
  clock: Clock
  onGone: () => void
}

/** This server as one of several on its store; undefined where it is the only one. */
export function composePeers({ store, storage, registry, mode, port, ...options }: InstanceOptions): Peers | undefined {
  const { cluster } = store
  if (cluster === undefined) return undefined
  const address = mode === 'command' ? null : `${hostname()}:${port}`
  const role = mode === 'command' ? 'guest' : 'server'
  return new Peers({
    ...options,
    ...(databaseOf(storage)?.cluster ?? usualClusterTimes()),
    cluster,
    store,
    now: () => performance.now(),
    timers: systemTimers,
    self: () => ({ address, version, entities: registry.ids(), role }),
  })
}
