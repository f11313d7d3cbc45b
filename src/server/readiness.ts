import type { Knowledge } from '../core/knowledge/knowledge.ts'
import type { SessionStore } from '../core/store.ts'
import type { PeersState } from '../service/peers/peers.ts'
import type { Readiness } from '../wire/health.ts'

/** `phase`: the state of the server, whatever its parts report. `lease`: undefined for a server that has its store alone. */
export async function readinessOf(
  phase: 'starting' | 'open' | 'stopping',
  store: SessionStore,
  knowledge: Knowledge | undefined,
  lease: PeersState['lease'] | undefined,
  issuer?: Readiness['checks']['issuer'],
): Promise<Readiness> {
  // While the lease is not fresh, the answer of the store may take long, and would change nothing.
  const stored = lease === undefined || lease === 'fresh' ? passes(store.check()) : false
  const [storage, knowing] = await Promise.all([stored, passes(knowledge?.check())])
  const status = phase !== 'open' ? phase : storage && knowing ? 'ready' : 'unavailable'
  return {
    status,
    checks: {
      storage: toCheck(storage),
      knowledge: knowledge === undefined ? 'off' : toCheck(knowing),
      // Without it keys still work, and another server would not reach it either: it does not change the status.
      ...(issuer !== undefined && { issuer }),
    },
  }
}

async function passes(check: Promise<void> | undefined): Promise<boolean> {
  try {
    await check
    return true
  } catch {
    return false
  }
}

function toCheck(passed: boolean): 'ok' | 'failed' {
  return passed ? 'ok' : 'failed'
}
