import { AppError, invalid } from '../../core/error.ts'
import { isSessionId } from '../../core/id.ts'
import { sse } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import { networkOf } from '../../http/security/address.ts'
import { assertScopes } from '../../http/security/scope.ts'
import { LiveEvent, LiveQuery, maxFollowed, maxFollowedSessions } from '../../wire/live.ts'
import { parseQuery } from '../../wire/parse.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { wantsPrompts } from '../route/included-prompts.ts'
import type { ApiSettings } from '../route/settings.ts'
import { whatCan } from '../server/me.ts'
import { toLiveFrames } from './frames.ts'

const route = routesAbout('Live', 'sessions')

export function liveRoutes(settings: ApiSettings): DocumentedRoute[] {
  const { live, version, mode } = settings
  return [
    route('GET', `${settings.prefix}/live`, 'live', {
      summary: 'Follow what changes',
      description:
        'Sends the newest state of every session and run that changes, and the events of the runs in `follow` and of those that begin in the sessions of `follow_sessions` (scope `run`). After `hello`, nothing is missed: a `reset` tells when the lists must be read again.',
      query: LiveQuery,
      headers: { 'Last-Event-ID': 'The last event that the client received: `<server id>.<number>`.' },
      responses: {
        200: {
          description: 'Server-sent events until the client leaves or the server stops.',
          content: { 'text/event-stream': LiveEvent },
        },
      },
      errors: ['rate_limited'],
      handle: async (request, { knowledge, costs }) => {
        refuseForeignPage(request)
        const { follow, follow_sessions: sessions, children = false, include } = parseQuery(LiveQuery, request.query)
        if (follow !== undefined || sessions !== undefined) assertScopes(request.scopes, 'run')
        const prompts = wantsPrompts(request, include)
        const reader = await live.open({
          caller: callerOf(request),
          user: request.userId,
          operator: request.scopes === undefined,
          after: lastEventOf(request),
          follow: { runs: readFollow(follow), sessions: readSessions(sessions) },
          children,
          prompts,
        })
        const hello = {
          type: 'hello',
          server_id: live.serverId,
          version,
          mode,
          can: whatCan(request, knowledge, settings),
          ...(request.scopes === undefined && { agents: live.agentsVersion }),
        } as const
        return sse(toLiveFrames(reader, { serverId: live.serverId, hello, knowledge, prompts, costs }))
      },
    }),
  ]
}

/** A page of another site could read nothing, but hold all streams of the user's address. */
function refuseForeignPage({ headers }: HttpRequest): void {
  const site = headers['sec-fetch-site']
  if (headers.origin === undefined && (site === 'cross-site' || site === 'same-site')) {
    throw new AppError('forbidden', 'A page of another site may not follow what changes here.')
  }
}

/** Without keys, streams are counted per address. */
function callerOf({ caller, remoteAddress }: HttpRequest): string {
  return caller === 'anonymous' ? networkOf(remoteAddress ?? '') : caller
}

function lastEventOf({ headers }: HttpRequest): string | undefined {
  const last = headers['last-event-id']
  return typeof last === 'string' && last !== '' ? last : undefined
}

function readFollow(follow: string | undefined): Map<string, number> {
  const runs = new Map<string, number>()
  for (const one of follow?.split(',') ?? []) {
    const [, runId, after = '0'] = /^([^\s:]{1,200})(?::(\d{1,15}))?$/.exec(one) ?? []
    if (runId === undefined) throw invalid("follow must be run ids, each with ':' and a number or without.", 'follow')
    runs.set(runId, Number(after))
  }
  if (runs.size > maxFollowed) throw invalid(`follow must be at most ${maxFollowed} runs.`, 'follow')
  return runs
}

function readSessions(given: string | undefined): Set<string> {
  const sessions = new Set(given?.split(','))
  for (const sessionId of sessions) {
    if (!isSessionId(sessionId)) throw invalid('follow_sessions must be ids of sessions.', 'follow_sessions')
  }
  if (sessions.size > maxFollowedSessions) {
    throw invalid(`follow_sessions must be at most ${maxFollowedSessions} sessions.`, 'follow_sessions')
  }
  return sessions
}
