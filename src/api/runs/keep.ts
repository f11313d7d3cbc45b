import { json } from '../../http/reply.ts'
import { KeepRequest, RunKept } from '../../wire/again.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { parseBody } from '../../wire/parse.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { readIdempotency } from '../route/idempotency.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'

const route = routesAbout('Runs')

export function keepRoutes(settings: ApiSettings): DocumentedRoute[] {
  return [
    route('POST', `${settings.prefix}/runs/:id/keep`, 'keepRun', {
      scope: 'run',
      summary: 'Make an ended try a turn',
      description:
        'A run that only tried another one again becomes a turn, with its events, answer, usage and cost as they are recorded: no model or tool is called.',
      params: { id: 'The try.' },
      headers: { 'Idempotency-Key': 'A retry with the same key and body gets the answer of the first request.' },
      body: { required: true, content: { 'application/json': KeepRequest } },
      responses: { 200: jsonAnswer('The turn.', RunKept) },
      errors: ['run_not_found', 'conflict', 'idempotency_mismatch'],
      handle: async (request, services) => {
        const id = pathId(request)
        const idempotency = await readIdempotency(request, 'POST /runs/keep')
        // Before what is wrong with the body. A retry may find that the try has become another run.
        if (idempotency === undefined) await services.runs.head(id)
        const { keep } = parseBody(KeepRequest, await request.body.json())
        return json(await services.once(idempotency, async () => ({ ...(await services.keep(id, keep)) })))
      },
    }),
  ]
}
