import { usualLimits } from '../../../src/config/settings/limits.ts'
import { usualClusterTimes } from '../../../src/config/settings/postgres.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { Runnable } from '../../../src/core/runnable.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { systemTimers } from '../../../src/runtime/timers.ts'
import { Peers } from '../../../src/service/peers/peers.ts'
import { createRegistry } from '../../../src/service/registry.ts'
import { createRuns, type RunService } from '../../../src/service/runs/runs.ts'

export interface ServingInstance {
  runs: RunService
  /** The others take over what it has under way, as it goes on and does not know. */
  leave(): Promise<void>
  close(): Promise<void>
}

/** A server of several without its routes, by the clock of the machine. */
export async function serve(
  store: SessionStore,
  owner: string,
  entities: Record<string, Runnable>,
  times = usualClusterTimes(),
): Promise<ServingInstance> {
  const registry = createRegistry()
  for (const [id, entity] of Object.entries(entities)) registry.register(id, entity)
  const { cluster } = store
  if (cluster === undefined) throw new Error('the store has no cluster')
  const base = { store, logger: silentLogger, clock: Date.now, timers: systemTimers, owner }
  const self = () => ({ address: null, version: '1', entities: registry.ids(), role: 'server' as const })
  const now = () => performance.now()
  const peers = new Peers({ ...base, cluster, now, ...times, self })
  const runs = createRuns({ ...base, registry, requestTimeoutMs: 600_000, bounds: usualLimits(), peers })
  await peers.join(runs)
  peers.serve()
  return {
    runs,
    leave: () => peers.close(),
    async close() {
      await runs.shutdown(0)
      await peers.close()
    },
  }
}
