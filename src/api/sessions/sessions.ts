import { invalid } from '../../core/error.ts'
import type { OwnerKind } from '../../core/session.ts'
import { empty, json } from '../../http/reply.ts'
import { assertScopes } from '../../http/security/scope.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { toList } from '../../wire/list.ts'
import { parseBody, parseQuery } from '../../wire/parse.ts'
import { SessionRunList, SessionRunsQuery } from '../../wire/run.ts'
import {
  CreateSessionRequest,
  ListedSessions,
  PruneSessionsRequest,
  ReuseSessionRequest,
  Session,
  SessionDeleted,
  SessionsPruned,
  SessionsQuery,
  UpdateSessionRequest,
} from '../../wire/session.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { etagOf, matches, requiredRevision } from '../route/etag.ts'
import { readIdempotency } from '../route/idempotency.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'
import { toHead, toSession, withCost } from '../runs/answer.ts'
import { withFiles } from './run-files.ts'

const route = routesAbout('Sessions', 'sessions')

const params = { id: 'The session.' }
const reused = "can't be changed here; POST …/reuse gives the session another owner"
const ownerHints = { user_id: reused, agent_id: reused, team_id: reused, workflow_id: reused }
const sessionAnswer = jsonAnswer('The session.', Session)
const ownerKinds = ['user', 'agent', 'team', 'workflow'] as const satisfies readonly OwnerKind[]
const withTag = { ...sessionAnswer, headers: { ETag: 'The version of the session, for If-Match.' } }

export function sessionRoutes({ prefix }: ApiSettings): DocumentedRoute[] {
  const path = `${prefix}/sessions`
  return [
    route('POST', path, 'createSession', {
      summary: 'Create a session',
      headers: { 'Idempotency-Key': 'A retry with the same key and body returns the first answer.' },
      body: { required: false, content: { 'application/json': CreateSessionRequest } },
      responses: { 201: { ...withTag, headers: { ...withTag.headers, Location: 'The path of the session.' } } },
      errors: ['conflict', 'idempotency_mismatch'],
      handle: async (request, { sessions, costs }) => {
        const seed = parseBody(CreateSessionRequest, await request.body.json())
        const record = await sessions.create(withoutAbsent(seed), await readIdempotency(request, 'POST /sessions'))
        const location = `${path}/${encodeURIComponent(record.session.session_id)}`
        return json(toSession(record.session, costs), 201, { Location: location, ETag: etagOf(record) })
      },
    }),
    route('GET', path, 'listSessions', {
      summary: 'List sessions, last changed first',
      description:
        'The filters match the current owners of a session and its earlier owners (see `reuse`). With `view=head` the items are `SessionHead`, ' +
        'which costs much less.',
      query: SessionsQuery,
      responses: { 200: jsonAnswer('A page of sessions.', ListedSessions) },
      errors: [],
      handle: async (request, { sessions, costs }) => {
        const { limit, cursor, view, total, ...filter } = parseQuery(SessionsQuery, request.query)
        const page = { limit, cursor }
        const counted = total && { total: await sessions.count(filter) }
        if (view === 'head') {
          const { items, next } = await sessions.heads(filter, page)
          return json({ ...toList('sessions', { items: items.map((head) => toHead(head, costs)), next }), ...counted })
        }
        const { items, next } = await sessions.list(filter, page)
        return json({ ...toList('sessions', { items: items.map((one) => toSession(one, costs)), next }), ...counted })
      },
    }),
    route('GET', `${path}/:id`, 'getSession', {
      summary: 'Get a session',
      params,
      headers: { 'If-None-Match': 'An ETag. 304 if the session has not changed.' },
      responses: { 200: withTag, 304: { description: 'Not changed.' } },
      errors: ['session_not_found'],
      handle: async (request, { sessions, costs }) => {
        const record = await sessions.get(pathId(request))
        const etag = etagOf(record)
        if (matches(request.headers['if-none-match'], etag)) return empty(304, { ETag: etag })
        return json(toSession(record.session, costs), 200, { ETag: etag })
      },
    }),
    route('PUT', `${path}/:id`, 'updateSession', {
      summary: 'Update a session',
      description:
        'A field in the body replaces the whole value, `null` clears it, and an absent field stays unchanged.',
      params,
      headers: { 'If-Match': 'An ETag. 412 if the session has changed since.' },
      body: { required: true, content: { 'application/json': UpdateSessionRequest } },
      responses: { 200: withTag },
      errors: ['session_not_found', 'precondition_failed'],
      handle: async (request, { sessions, costs }) => {
        const id = pathId(request)
        const present = await sessions.get(id)
        const change = parseBody(UpdateSessionRequest, (await request.body.json()) ?? null, {
          nulls: 'keep',
          hints: ownerHints,
        })
        const revision = requiredRevision(request.headers['if-match'], present)
        const record = await sessions.update(id, withoutAbsent(change), revision)
        return json(toSession(record.session, costs), 200, { ETag: etagOf(record) })
      },
    }),
    route('DELETE', `${path}/:id`, 'deleteSession', {
      summary: 'Delete a session with all its data',
      description: 'Active runs of the session are cancelled first.',
      params,
      responses: {
        200: jsonAnswer('The document was deleted.', SessionDeleted),
      },
      errors: ['session_not_found'],
      handle: async (request, { sessions }) => {
        const id = pathId(request)
        await sessions.delete(id)
        return json({ session_id: id, deleted: true })
      },
    }),
    route('POST', `${path}/:id/reuse`, 'reuseSession', {
      summary: 'Attach a session to another agent, team, workflow or user',
      description: 'The given ids become the current owners; the earlier owners stay in `shared_with`.',
      params,
      body: { required: true, content: { 'application/json': ReuseSessionRequest } },
      responses: { 200: withTag },
      errors: ['session_not_found'],
      handle: async (request, { sessions, costs }) => {
        const id = pathId(request)
        await sessions.get(id)
        const owners = parseBody(ReuseSessionRequest, await request.body.json())
        const record = await sessions.reuse(id, withoutAbsent(owners))
        return json(toSession(record.session, costs), 200, { ETag: etagOf(record) })
      },
    }),
    route('DELETE', `${path}/:id/shared/:kind/:owner_id`, 'unshareSession', {
      summary: 'Remove an earlier owner from a session',
      description: 'A removed user can no longer read the session. Only the current user and operators may do this.',
      params: { ...params, kind: '`user`, `agent`, `team` or `workflow`.', owner_id: 'The id in `shared_with`.' },
      examples: { kind: ownerKinds },
      responses: { 204: { description: 'The owner was removed.' } },
      errors: ['session_not_found', 'owner_not_found'],
      handle: async (request, { sessions }) => {
        const id = pathId(request)
        const named = pathId(request, 'kind')
        await sessions.get(id)
        const kind = ownerKinds.find((known) => known === named)
        if (kind === undefined) throw unknownKind(named)
        await sessions.unshare(id, kind, pathId(request, 'owner_id'))
        return empty(204)
      },
    }),
    route('POST', `${path}/prune`, 'pruneSessions', {
      summary: 'Delete old sessions',
      description:
        'Deletes sessions that have not changed for a long time, with all their data, except sessions with a running or queued run. The owner filters are the same as for listing sessions. ' +
        'The request stops after some seconds and then reports `has_more`. Without `user_id` it applies to all users and needs the ' +
        'scope `admin`, unless the key belongs to a user.',
      body: { required: true, content: { 'application/json': PruneSessionsRequest } },
      responses: {
        200: jsonAnswer('The number of deleted sessions.', SessionsPruned),
      },
      errors: [],
      handle: async (request, { sessions }) => {
        const { updated_before, ...filter } = parseBody(PruneSessionsRequest, await request.body.json())
        if (request.userId === undefined && filter.user_id === undefined) assertScopes(request.scopes, 'admin')
        return json(await sessions.prune({ olderThan: updated_before, filter }))
      },
    }),
    route('GET', `${path}/:id/runs`, 'listSessionRuns', {
      summary: 'List the runs of a session, newest first',
      params,
      query: SessionRunsQuery,
      responses: { 200: jsonAnswer('A page of runs.', SessionRunList) },
      errors: ['session_not_found'],
      handle: async (request, { sessions, runs, costs }) => {
        const session_id = pathId(request)
        await sessions.get(session_id)
        const { limit, cursor, files, ...filter } = parseQuery(SessionRunsQuery, request.query)
        const { items, next } = await runs.list({ ...filter, session_id }, { limit, cursor })
        const listed = items.map((run) => withCost(run, costs))
        return json(toList('runs', { items: files ? await withFiles(runs, listed) : listed, next }))
      },
    }),
  ]
}

function unknownKind(named: string) {
  return invalid(`'${named}' is not a kind of owner. Use one of ${ownerKinds.join(', ')}.`, 'kind')
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Without undefined fields, which would overwrite others in a spread. */
function withoutAbsent<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>
}
