import { json, sse } from '../../http/reply.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { parseBody } from '../../wire/parse.ts'
import {
  KeptTestRuns,
  ProjectTest,
  ProjectTestList,
  RunTestsRequest,
  SaveTestRequest,
  TestEvent,
} from '../../wire/saved-test.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import type { ApiSettings } from '../route/settings.ts'
import { workFrames } from '../route/work-frames.ts'

const route = routesAbout('Tests', 'operator')
const onlyInDev = 'Only in `agentserve dev`.'

/** None unless the server knows its project's tests. */
export function projectTestRoutes({ prefix, savedTest, projectTests: tests }: ApiSettings): DocumentedRoute[] {
  if (tests === undefined) return []
  const path = `${prefix}/dev/tests`
  return [
    route('GET', path, 'listProjectTests', {
      summary: 'List the saved tests of the project',
      description: `${onlyInDev} Every \`*.session.json\` under the project's folder.`,
      responses: { 200: jsonAnswer('The tests, by name.', ProjectTestList) },
      errors: [],
      handle: async () => json({ tests: await tests.list() }),
    }),
    route('POST', path, 'saveProjectTest', {
      summary: 'Save a session as a test of the project',
      description: `${onlyInDev} Writes \`test/<name>.session.json\`, never over a file that is there (409).`,
      body: { required: true, content: { 'application/json': SaveTestRequest } },
      responses: { 201: jsonAnswer('The test.', ProjectTest) },
      errors: ['session_not_found', 'conflict'],
      takesLong: true,
      handle: async (request, services) => {
        const { session_id: sessionId, name } = parseBody(SaveTestRequest, await request.body.json())
        const act = {
          action: 'test.save',
          object: { kind: 'test', id: name },
          detail: { session_id: sessionId },
        } as const
        const save = async () => tests.save(name, await savedTest(services, sessionId))
        return json(await services.audited(act, save), 201)
      },
    }),
    route('GET', `${path}/runs`, 'listProjectTestRuns', {
      summary: 'List earlier runs of the tests',
      description: `${onlyInDev} The last 100, newest first, each with the commit of the project.`,
      responses: { 200: jsonAnswer('The runs.', KeptTestRuns) },
      errors: [],
      handle: async () => json({ runs: await tests.runs() }),
    }),
    route('POST', `${path}/run`, 'runProjectTests', {
      summary: 'Run saved tests of the project',
      description:
        `${onlyInDev} All tests, or those in \`names\`, with the config as it is on disk. Tools give their recorded results, unless the ` +
        'test says `live`; so do models, unless `mode` is `scores`. A `result` for each test, then `end`. One run of tests at a time (409).',
      body: { required: false, content: { 'application/json': RunTestsRequest } },
      responses: {
        200: { description: 'Server-sent events.', content: { 'text/event-stream': TestEvent } },
      },
      errors: ['conflict', 'invalid_request'],
      handle: async (request, services) => {
        const wanted = parseBody(RunTestsRequest, (await request.body.json()) ?? {})
        const { mode, update } = wanted
        const run = () => tests.run(wanted, request.signal)
        return sse(workFrames(services.auditedStream({ action: 'test.run', detail: { mode, update } }, run)))
      },
    }),
  ]
}
