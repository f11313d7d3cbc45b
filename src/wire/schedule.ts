import { z } from 'zod'
import { overlaps, type ScheduleInfo } from '../core/triggers/schedule.ts'
import { flag, jsonObject, timestamp } from '../schema/request-field.ts'
import { component } from './document/component.ts'

export const Schedule = component(
  'Schedule',
  z.object({
    name: z.string(),
    agent: z.string().describe('The id of an agent, team or workflow.'),
    cron: z.string(),
    time_zone: z.string(),
    input: z.union([z.string(), jsonObject()]),
    session_id: z.string().nullable().describe('The session of all its runs. Null: each run has its own.'),
    user_id: z.string().nullable().describe('Whose runs they are.'),
    overlap: z.enum(overlaps).describe('What a due time does while the newest run is under way.'),
    enabled: z.boolean().describe('False: the config turns it off.'),
    paused: z.boolean().describe('It starts no runs until it is resumed.'),
    next_at: timestamp().nullable().describe('Null while it is off or paused.'),
    last_run: z.object({ run_id: z.string(), at: timestamp() }).nullable(),
    skipped_at: timestamp()
      .nullable()
      .describe('The newest due time without a run, because an earlier run was under way.'),
  }),
) satisfies z.ZodType<ScheduleInfo>
export type Schedule = z.infer<typeof Schedule>

export const ScheduleList = component('ScheduleList', z.object({ schedules: z.array(Schedule), count: z.int() }))
export type ScheduleList = z.infer<typeof ScheduleList>

export const UpdateScheduleRequest = component('UpdateScheduleRequest', z.object({ paused: flag() }))
export type UpdateScheduleRequest = z.input<typeof UpdateScheduleRequest>
