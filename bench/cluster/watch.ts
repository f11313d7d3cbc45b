import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { execute } from '../../test/support/postgres/places.ts'
import type { Told } from './told.ts'

const everyMs = 500

export interface Watched {
  /** How often it has looked. */
  looks: number
  /** The highest load average of a minute, by cores. */
  loadPerCore: number
}

/** Looks at the tables again and again: a session never has two runs that run. */
export function watchSessions(told: Told, adminUrl: string, schema: string): { stop(): Promise<Watched> } {
  const query = `SELECT session_id FROM ${schema}.run WHERE status = 'running' AND parent_run_id IS NULL
    GROUP BY session_id HAVING count(*) > 1`
  const ending = new AbortController()
  const { signal } = ending
  const watch = async () => {
    let looks = 0
    let loadPerCore = 0
    while (!signal.aborted) {
      try {
        for (const id of await execute(adminUrl, query)) told.wrong(`the session ${id} has two running runs`)
        looks++
      } catch {
        // Postgres is away, which is one of the faults.
      }
      loadPerCore = Math.max(loadPerCore, (loadavg()[0] ?? 0) / availableParallelism())
      await sleep(everyMs, undefined, { signal }).catch(() => {})
    }
    return { looks, loadPerCore }
  }
  const watching = watch()
  return {
    stop() {
      ending.abort()
      return watching
    },
  }
}

/** Waits until no run is under way, at most so long. Gives those that are. */
export async function untilSettled(adminUrl: string, schema: string, withinMs: number): Promise<string[]> {
  const query = `SELECT run_id || ' is ' || status FROM ${schema}.run WHERE status IN ('running', 'queued')`
  const endsAt = performance.now() + withinMs
  for (;;) {
    const left = (await execute(adminUrl, query)).map(String)
    if (left.length === 0 || performance.now() > endsAt) return left
    await sleep(200)
  }
}
