import { json } from '../../http/reply.ts'
import { AuditEntryList, AuditQuery } from '../../wire/audit.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { toList } from '../../wire/list.ts'
import { parseQuery } from '../../wire/parse.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import type { ApiSettings } from '../route/settings.ts'

const route = routesAbout('Server', 'admin')

/** None when the log is off. No route changes or deletes an entry. */
export function auditRoutes({ prefix, audited }: ApiSettings): DocumentedRoute[] {
  if (!audited) return []
  return [
    route('GET', `${prefix}/audit`, 'listAuditEntries', {
      summary: 'List what was done, newest first',
      description:
        'Who did what to which object, when and with what outcome, without contents: deletes, exports, imports, forks, ' +
        'approvals, cancelled and replaced runs, changes of sessions, knowledge, schedules and configuration, uses and refusals of keys. All servers of a store write to one log. ' +
        'Entries are kept as long as `server.audit.keep` says. Nothing changes or deletes them before.',
      query: AuditQuery,
      responses: { 200: jsonAnswer('A page of entries.', AuditEntryList) },
      errors: [],
      handle: async (request, { audit }) => {
        const { limit, cursor, ...filter } = parseQuery(AuditQuery, request.query)
        return json(toList('entries', (await audit?.list(filter, { limit, cursor })) ?? { items: [], next: null }))
      },
    }),
  ]
}
