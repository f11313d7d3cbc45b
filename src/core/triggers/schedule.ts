import type { JsonObject } from '../json.ts'

/** What is done at a due time while the schedule's newest run is still under way. */
export const overlaps = ['skip', 'allow', 'interrupt'] as const
export type Overlap = (typeof overlaps)[number]

/** A schedule of the config. */
export interface Schedule {
  name: string
  cron: string
  timeZone: string
  /** An agent, team or workflow. */
  agent: string
  input: string | JsonObject
  /** Undefined: each run has a session of its own. */
  session: string | undefined
  /** Whose runs they are. */
  user: string | undefined
  metadata: JsonObject | undefined
  overlap: Overlap
  /** A due time that was missed for longer starts no run. */
  catchUpMs: number
  enabled: boolean
}

/** A schedule as callers see it. */
export interface ScheduleInfo {
  name: string
  agent: string
  cron: string
  time_zone: string
  input: string | JsonObject
  session_id: string | null
  user_id: string | null
  overlap: Overlap
  /** False: the config turns it off. */
  enabled: boolean
  paused: boolean
  /** Null: it is off or paused. */
  next_at: string | null
  last_run: { run_id: string; at: string } | null
  /** See `ScheduleState`. */
  skipped_at: string | null
}

/** What the store knows of a schedule of the config. */
export interface ScheduleState {
  name: string
  /** The rule of its due times. With another one, earlier due times mean nothing. */
  rule: string
  /** All due times up to this one have been dealt with. */
  handled_until: string
  /** The newest run, whatever started it. */
  run_id: string | null
  run_at: string | null
  /** The newest due time at which no run was started, because an earlier one was under way. */
  skipped_at: string | null
  /** Someone has asked for no more runs until further notice. */
  paused: boolean
}

/** What became of a schedule at one moment. */
export interface ScheduleOutcome {
  /** The due time; null: it was run by hand. */
  due_at: string | null
  /** Now, by the clock of the process. */
  at: string
  /** The run that was started; null: none was. */
  run_id: string | null
  /** See `ScheduleState.skipped_at`. */
  skipped?: boolean | undefined
}

/**
 * The part of the session store that keeps how far the schedules of the config have come. That a due time starts one run only
 * is the work of its idempotency key (`RunStart.claim`).
 */
export interface ScheduleStore {
  /** The state; with another rule than the present one, and for a new name, all due times until `at` count as dealt with. */
  openSchedule(name: string, rule: string, at: string): Promise<ScheduleState>
  /** In the order of their names, also of those that are in the config no more. */
  listSchedules(): Promise<ScheduleState[]>
  /**
   * Does nothing for an unknown name. `handled_until` moves to a later due time, and to an earlier one only when it lies after
   * `at`: then a clock has been wrong.
   */
  settleSchedule(name: string, outcome: ScheduleOutcome): Promise<void>
  /** Undefined for an unknown name. What was due until `at` is not made up for. */
  pauseSchedule(name: string, paused: boolean, at: string): Promise<ScheduleState | undefined>
}
