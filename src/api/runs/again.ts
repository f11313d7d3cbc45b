import { AppError } from '../../core/error.ts'
import { json } from '../../http/reply.ts'
import { AgainRequest, AgainStarted, editOf } from '../../wire/again.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { parseBody } from '../../wire/parse.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { readIdempotency } from '../route/idempotency.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'

const route = routesAbout('Runs')

export function againRoutes(settings: ApiSettings): DocumentedRoute[] {
  return [
    route('POST', `${settings.prefix}/runs/:id/again`, 'repeatRun', {
      scope: 'operator',
      summary: 'Run a run again, with edits',
      description:
        'Starts runs in the background that repeat this one from its beginning or from one of its events. Outside `dev`, `server.studio.again` allows it.',
      params: { id: 'The run.' },
      headers: { 'Idempotency-Key': 'A retry with the same key and body gets the runs of the first request.' },
      body: { required: false, content: { 'application/json': AgainRequest } },
      responses: { 202: jsonAnswer('The runs go on in the background.', AgainStarted) },
      errors: ['run_not_found', 'agent_not_found', 'forbidden', 'conflict', 'idempotency_mismatch'],
      handle: async (request, services) => {
        if (!settings.again) {
          throw new AppError('forbidden', 'This server repeats no runs. Set `server.studio.again`, or use `dev`.')
        }
        const id = pathId(request)
        const { from, edit, after = 'ask', times = 1, keep = 'no' } = parseBody(AgainRequest, await request.body.json())
        const again = { from, edit: edit && editOf(edit), after, times, keep }
        const idempotency = await readIdempotency(request, 'POST /runs/again')
        const runs = await services.once(idempotency, async () => ({ runs: await services.again(id, again) }))
        return json(runs, 202)
      },
    }),
  ]
}
