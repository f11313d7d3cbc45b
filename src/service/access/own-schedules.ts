import type { Schedules } from '../schedules/schedules.ts'
import { noSchedule } from '../schedules/schedules.ts'

/** The schedules of this user. Others do not exist, and their names are told to nobody. */
export function ownSchedules(schedules: Schedules, userId: string): Schedules {
  const list = async () => (await schedules.list()).filter(({ user_id }) => user_id === userId)

  async function own(name: string): Promise<void> {
    const names = (await list()).map((schedule) => schedule.name)
    if (!names.includes(name)) throw noSchedule(name, names)
  }

  return {
    list,
    async get(name) {
      await own(name)
      return schedules.get(name)
    },
    async run(name) {
      await own(name)
      return schedules.run(name)
    },
    async pause(name, paused) {
      await own(name)
      return schedules.pause(name, paused)
    },
  }
}
