import type { ScheduleState, ScheduleStore } from '../../../core/triggers/schedule.ts'
import { isStorable } from '../../postgres/text.ts'
import type { Database } from './database.ts'

export function scheduleStore({ read, work }: Database): ScheduleStore {
  return {
    async openSchedule(name, rule, at) {
      const [state] = await work((sql) => sql.all<ScheduleState>(open, [name, rule, at]))
      return state as ScheduleState
    },
    listSchedules: () => read.all<ScheduleState>(`SELECT ${fields} FROM schedule ORDER BY name`),
    async settleSchedule(name, { due_at, at, run_id, skipped = false }) {
      await work((sql) => sql.run(settle, [name, due_at, at, run_id, skipped ? due_at : null]))
    },
    async pauseSchedule(name, paused, at) {
      if (!isStorable(name)) return undefined
      const [state] = await work((sql) => sql.all<ScheduleState>(pause, [name, paused, at]))
      return state
    },
  }
}

const fields = 'name, rule, handled_until, run_id, run_at, skipped_at, paused'

const open = `INSERT INTO schedule AS present (name, rule, handled_until, paused) VALUES ($1, $2, $3, false)
  ON CONFLICT (name) DO UPDATE SET rule = excluded.rule,
    handled_until = CASE WHEN present.rule = excluded.rule THEN present.handled_until ELSE excluded.handled_until END
  RETURNING ${fields}`

const settle = `UPDATE schedule SET
    handled_until = CASE WHEN $2::text COLLATE "C" > handled_until OR ($2::text IS NOT NULL AND handled_until > $3)
      THEN $2 ELSE handled_until END,
    run_id = coalesce($4, run_id),
    run_at = CASE WHEN $4::text IS NULL THEN run_at ELSE $3 END,
    skipped_at = coalesce($5, skipped_at)
  WHERE name = $1`

const pause = `UPDATE schedule SET paused = $2,
    handled_until = CASE WHEN paused = $2 THEN handled_until ELSE $3 END
  WHERE name = $1 RETURNING ${fields}`
