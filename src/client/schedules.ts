import type { RunAccepted } from '../wire/run.ts'
import type { Schedule, ScheduleList } from '../wire/schedule.ts'
import type { CallOptions, Connection, KeyedOptions } from './transport/connection.ts'

/** The part of it that a page in a browser needs. */
export type PageSchedulesClient = Pick<SchedulesClient, 'list' | 'run'>

/** The schedules of the server's config. */
export interface SchedulesClient {
  /** In the order of the config. */
  list(options?: CallOptions): Promise<ScheduleList>
  /** Throws `schedule_not_found` for an unknown name. */
  get(name: string, options?: CallOptions): Promise<Schedule>
  /** Starts a run in the background now, whatever else is under way. Follow it with `runs.events`. */
  run(name: string, options?: KeyedOptions): Promise<RunAccepted>
  /** It starts no runs until `resume`, on all instances and over restarts. Needs the scope `admin`. */
  pause(name: string, options?: CallOptions): Promise<Schedule>
  /** What was due in the meantime is not made up for. */
  resume(name: string, options?: CallOptions): Promise<Schedule>
}

export function createPageSchedulesClient(connection: Connection, prefix: string): PageSchedulesClient {
  const path = `${prefix}/schedules`
  return {
    list: (options) => connection.get(path, options),
    run: (name, options) => connection.send(`${path}/${encodeURIComponent(name)}/run`, { ...options }),
  }
}

export function createSchedulesClient(connection: Connection, prefix: string): SchedulesClient {
  const of = (name: string) => `${prefix}/schedules/${encodeURIComponent(name)}`
  const update = (name: string, paused: boolean, options: CallOptions | undefined) =>
    connection.json<Schedule>({ ...options, method: 'PUT', path: of(name), body: { paused }, repeat: 'safe' })
  return {
    ...createPageSchedulesClient(connection, prefix),
    get: (name, options) => connection.get(of(name), options),
    pause: (name, options) => update(name, true, options),
    resume: (name, options) => update(name, false, options),
  }
}
