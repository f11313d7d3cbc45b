import type { ScheduleState, ScheduleStore } from '../../../core/triggers/schedule.ts'
import type { Connection, SqlRow } from '../../sqlite/connection.ts'

type Using = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>

export function scheduleStore(reading: Using, working: Using): ScheduleStore {
  return {
    openSchedule: (name, rule, at) =>
      working(async (writer) => {
        const [row] = await writer.all(open, [name, rule, at])
        return toState(row as SqlRow)
      }),
    async listSchedules() {
      const rows = await reading((connection) => connection.all('SELECT * FROM schedules ORDER BY schedule_name'))
      return rows.map(toState)
    },
    settleSchedule: (name, { due_at, at, run_id, skipped = false }) =>
      working(async (writer) => {
        await writer.run(settle, [name, due_at, at, run_id, skipped ? due_at : null])
      }),
    pauseSchedule: (name, paused, at) =>
      working(async (writer) => {
        const [row] = await writer.all(pause, [name, paused ? 1 : 0, at])
        return row && toState(row)
      }),
  }
}

const open = `INSERT INTO schedules (schedule_name, schedule_rule, schedule_handled_until, schedule_paused)
  VALUES (?1, ?2, ?3, 0)
  ON CONFLICT DO UPDATE SET
    schedule_handled_until = CASE WHEN schedule_rule = ?2 THEN schedule_handled_until ELSE ?3 END, schedule_rule = ?2
  RETURNING *`

const settle = `UPDATE schedules SET
    schedule_handled_until = CASE WHEN ?2 > schedule_handled_until OR (?2 IS NOT NULL AND schedule_handled_until > ?3)
      THEN ?2 ELSE schedule_handled_until END,
    schedule_run_id = coalesce(?4, schedule_run_id),
    schedule_run_at = CASE WHEN ?4 IS NULL THEN schedule_run_at ELSE ?3 END,
    schedule_skipped_at = coalesce(?5, schedule_skipped_at)
  WHERE schedule_name = ?1`

const pause = `UPDATE schedules SET schedule_paused = ?2,
    schedule_handled_until = CASE WHEN schedule_paused = ?2 THEN schedule_handled_until ELSE ?3 END
  WHERE schedule_name = ?1 RETURNING *`

function toState(row: SqlRow): ScheduleState {
  return {
    name: row.schedule_name as string,
    rule: row.schedule_rule as string,
    handled_until: row.schedule_handled_until as string,
    run_id: row.schedule_run_id as string | null,
    run_at: row.schedule_run_at as string | null,
    skipped_at: row.schedule_skipped_at as string | null,
    paused: row.schedule_paused === 1,
  }
}
