import type { RunAccepted } from '../wire/run.ts'
import type { Schedule, ScheduleList } from '../wire/schedule.ts'
import type { CallOptions, Connection, KeyedOptions } from './transport/connection.ts'

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

export function createSchedulesClient(connection: Connection, prefix: string): SchedulesClient {
  const path = `${prefix}/schedules`
  const of = (name: string) => `${path}/${encodeURIComponent(name)}`
  const update = (name: string, paused: boolean, options: CallOptions | undefined) =>
    connection.json<Schedule>({ ...options, method: 'PUT', path: of(name), body: { paused }, repeat: 'safe' })
  return {
    list: (options) => connection.get(path, options),
    get: (name, options) => connection.get(of(name), options),
    run: (name, options) => connection.send(`${of(name)}/run`, { ...options }),
    pause: (name, options) => update(name, true, options),
    resume: (name, options) => update(name, false, options),
  }
}
