import type { Knowledge } from '../core/knowledge/knowledge.ts'
import type { SessionStore } from '../core/store.ts'
import type { Readiness } from '../wire/health.ts'

/** `phase`: the state of the server, whatever its parts report. */
export async function readinessOf(
  phase: 'starting' | 'open' | 'stopping',
  store: SessionStore,
  knowledge: Knowledge | undefined,
): Promise<Readiness> {
  const [storage, knowing] = await Promise.all([passes(store.check()), passes(knowledge?.check())])
  const status = phase !== 'open' ? phase : storage && knowing ? 'ready' : 'unavailable'
  return {
    status,
    checks: { storage: toCheck(storage), knowledge: knowledge === undefined ? 'off' : toCheck(knowing) },
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
