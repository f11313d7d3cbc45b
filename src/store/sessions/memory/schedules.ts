import type { ScheduleState, ScheduleStore } from '../../../core/triggers/schedule.ts'
import { copy, type MemoryState } from './rows.ts'

type Step = <T>(work: () => T) => Promise<T>

export function scheduleStore({ schedules }: MemoryState, step: Step): ScheduleStore {
  return {
    openSchedule: (name, rule, at) =>
      step(() => {
        const state: ScheduleState = schedules.get(name) ?? {
          name,
          rule,
          handled_until: at,
          run_id: null,
          run_at: null,
          skipped_at: null,
          paused: false,
        }
        if (state.rule !== rule) Object.assign(state, { rule, handled_until: at })
        schedules.set(name, state)
        return copy(state)
      }),
    listSchedules: () =>
      step(() => [...schedules.values()].map(copy).sort((one, other) => (one.name < other.name ? -1 : 1))),
    settleSchedule: (name, { due_at, at, run_id, skipped = false }) =>
      step(() => {
        const state = schedules.get(name)
        if (state === undefined) return
        const until = state.handled_until
        if (due_at !== null && (due_at > until || until > at)) state.handled_until = due_at
        if (run_id !== null) Object.assign(state, { run_id, run_at: at })
        if (skipped) state.skipped_at = due_at
      }),
    pauseSchedule: (name, paused, at) =>
      step(() => {
        const state = schedules.get(name)
        if (state === undefined) return undefined
        if (state.paused !== paused) Object.assign(state, { paused, handled_until: at })
        return copy(state)
      }),
  }
}
