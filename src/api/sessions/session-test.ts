import { json } from '../../http/reply.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { SavedTest } from '../../wire/saved-test.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'

const route = routesAbout('Sessions', 'sessions')

export function sessionTestRoutes({ prefix, savedTest }: ApiSettings): DocumentedRoute[] {
  return [
    route('GET', `${prefix}/sessions/:id/test`, 'getSessionTest', {
      summary: 'Get the session as a test',
      description:
        'The input of each turn, the recorded answers of models and tools, and what is expected: a file for `agentserve test`. ' +
        'Prompts are not in it, only their hashes. Approvals and inputs are in it too. A session that still waits for one, or has files in its input, can not be played: 400.',
      params: { id: 'The session.' },
      responses: {
        200: jsonAnswer('The test.', SavedTest, { 'Content-Disposition': '`attachment`, with a name for the file.' }),
      },
      errors: ['session_not_found', 'invalid_request'],
      takesLong: true,
      handle: async (request, services) => {
        const id = pathId(request)
        const test = await savedTest(services, id)
        const name = `${id.replace(/[^\w.-]/g, '_')}.session.json`
        return json(test, 200, { 'Content-Disposition': `attachment; filename="${name}"` })
      },
    }),
  ]
}
