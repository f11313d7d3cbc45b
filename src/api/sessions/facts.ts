import { empty, json } from '../../http/reply.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { FactList, FactsDeleted } from '../../wire/fact.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'

const route = routesAbout('Users', 'sessions')

const user_id = 'The user. A key of a user may only name its own.'

/** What agents with `memory: { user: true }` remember about users. */
export function factRoutes({ prefix }: ApiSettings): DocumentedRoute[] {
  const path = `${prefix}/users/:user_id/facts`
  return [
    route('GET', path, 'listFacts', {
      summary: 'List what is remembered about a user',
      description:
        'The facts that agents with `memory: { user: true }` have remembered about the user, in all sessions. They are told ' +
        'to the models of these agents in each run of the user. The list is empty for a user without facts.',
      params: { user_id },
      responses: { 200: jsonAnswer('The facts, oldest first.', FactList) },
      errors: [],
      handle: async (request, { facts }) => {
        const found = await facts.list(pathId(request, 'user_id'))
        return json({ facts: found, count: found.length } satisfies FactList)
      },
    }),
    route('DELETE', path, 'deleteFacts', {
      summary: 'Delete everything that is remembered about a user',
      description:
        'Deletes all facts about the user, and nothing else: what was said in sessions stays there. A run that is under way ' +
        'may remember again.',
      params: { user_id },
      responses: { 200: jsonAnswer('The facts are deleted.', FactsDeleted) },
      errors: [],
      handle: async (request, { facts }) => {
        const userId = pathId(request, 'user_id')
        return json({ user_id: userId, deleted: await facts.deleteAll(userId) } satisfies FactsDeleted)
      },
    }),
    route('DELETE', `${path}/:fact_id`, 'deleteFact', {
      summary: 'Delete one fact about a user',
      description: 'The next run of the user does not know it any more. What was said in sessions stays there.',
      params: { user_id, fact_id: 'The fact.' },
      responses: { 204: { description: 'The fact is deleted.' } },
      errors: ['fact_not_found'],
      handle: async (request, { facts }) => {
        await facts.delete(pathId(request, 'user_id'), pathId(request, 'fact_id'))
        return empty()
      },
    }),
  ]
}
