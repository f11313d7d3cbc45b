import { silentLogger } from '../../src/core/logger.ts'
import type { Runnable } from '../../src/core/runnable.ts'
import type { SessionStore } from '../../src/core/store.ts'
import type { Schedule } from '../../src/core/triggers/schedule.ts'
import { ScheduleService } from '../../src/service/schedules/schedules.ts'
import { manualTimers } from './manual-timers.ts'
import { openServices } from './services.ts'

export function scheduleOf(more: Partial<Schedule> = {}): Schedule {
  return {
    name: 'nightly',
    cron: '30 2 * * *',
    timeZone: 'UTC',
    agent: 'echo',
    input: 'good night',
    session: undefined,
    user: undefined,
    metadata: undefined,
    overlap: 'skip',
    catchUpMs: 7 * 86_400_000,
    enabled: true,
    ...more,
  }
}

/** A process with schedules, whose clock and timers a test moves. */
export interface ScheduledProcess {
  service: ScheduleService
  runs: Awaited<ReturnType<typeof openServices>>['runs']
  now(): string
  /** Sets the clock of the process. Its timers do not notice. */
  setClock(time: string): void
  /** Lets time pass in steps, and what is due begin. */
  pass(ms: number, stepMs?: number): Promise<void>
}

export async function startProcess(
  store: SessionStore,
  schedules: readonly Schedule[],
  entities: Record<string, Runnable>,
  start: string,
): Promise<ScheduledProcess> {
  let nowMs = Date.parse(start)
  const clock = () => nowMs
  const timers = manualTimers()
  const { runs } = await openServices(entities, store, 30_000, undefined, undefined, clock)
  const service = new ScheduleService(schedules, { store, runs: () => runs, clock, timers, logger: silentLogger })
  service.start()
  await service.idle()
  return {
    service,
    runs,
    now: () => new Date(nowMs).toISOString(),
    setClock(time) {
      nowMs = Date.parse(time)
    },
    async pass(ms, stepMs = 10_000) {
      for (let left = ms; left > 0; left -= stepMs) {
        const step = Math.min(left, stepMs)
        nowMs += step
        timers.advance(step)
        await service.idle()
      }
    },
  }
}

/** The due times of all recorded runs of schedules, oldest first; null for those that were run by hand. */
export async function firedOf(store: SessionStore): Promise<(string | null)[]> {
  const { items } = await store.listRuns({}, { limit: 100 })
  const records = await Promise.all(items.map(({ run_id }) => store.findRun(run_id)))
  return records
    .map((run) => (run?.metadata?.schedule as { due_at: string | null } | undefined)?.due_at ?? null)
    .reverse()
}
