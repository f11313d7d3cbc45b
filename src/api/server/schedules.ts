import { json } from '../../http/reply.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { parseBody } from '../../wire/parse.ts'
import { RunAccepted } from '../../wire/run.ts'
import { Schedule, ScheduleList, UpdateScheduleRequest } from '../../wire/schedule.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { readIdempotency } from '../route/idempotency.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'

const route = routesAbout('Schedules')

const params = { id: 'The name of the schedule.' }

/** The schedules of the config. A key with a user has those whose `user` it is. */
export function scheduleRoutes({ prefix }: ApiSettings): DocumentedRoute[] {
  const path = `${prefix}/schedules`
  return [
    route('GET', path, 'listSchedules', {
      scope: 'run',
      summary: 'List schedules',
      description: 'In the order of the config. The list of a key with a user has only schedules of that user.',
      responses: { 200: jsonAnswer('The schedules of the config.', ScheduleList) },
      errors: [],
      handle: async (_, { schedules }) => {
        const all = await schedules.list()
        return json({ schedules: all, count: all.length })
      },
    }),
    route('GET', `${path}/:id`, 'getSchedule', {
      scope: 'run',
      summary: 'Get a schedule',
      params,
      responses: { 200: jsonAnswer('The schedule.', Schedule) },
      errors: ['schedule_not_found'],
      handle: async (request, { schedules }) => json(await schedules.get(pathId(request))),
    }),
    route('POST', `${path}/:id/run`, 'runSchedule', {
      scope: 'run',
      summary: 'Run a schedule now',
      description:
        'Starts a run in the background, whatever else is under way, also of a schedule that is off or paused.',
      params,
      headers: { 'Idempotency-Key': 'A retry with the same key gets the run of the first request.' },
      responses: { 202: jsonAnswer('The run continues in the background.', RunAccepted) },
      errors: ['schedule_not_found', 'agent_not_found', 'conflict', 'idempotency_mismatch', 'rate_limited'],
      handle: async (request, { schedules, runs, once }) => {
        const name = pathId(request)
        const idempotency = await readIdempotency(request, 'POST /schedules/run')
        const accepted = await once(idempotency, async () => {
          const { runId: run_id, sessionId: session_id } = await schedules.run(name)
          return { run_id, session_id, status: (await runs.head(run_id)).status }
        })
        return json(accepted, 202, { Location: `${prefix}/runs/${accepted.run_id}` })
      },
    }),
    route('PUT', `${path}/:id`, 'updateSchedule', {
      scope: 'admin',
      summary: 'Pause or resume a schedule',
      description: 'On all instances and over restarts. What was due in the meantime is not made up for.',
      params,
      body: { required: true, content: { 'application/json': UpdateScheduleRequest } },
      responses: { 200: jsonAnswer('The schedule.', Schedule) },
      errors: ['schedule_not_found'],
      handle: async (request, { schedules }) => {
        const { paused } = parseBody(UpdateScheduleRequest, await request.body.json())
        return json(await schedules.pause(pathId(request), paused))
      },
    }),
  ]
}
