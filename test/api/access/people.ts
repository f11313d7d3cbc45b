import type { ServerConfig } from '../../../src/config/types.ts'
import { offlineSummarizer } from '../../../src/models/summarizer.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { audience, openIssuer } from '../../support/issuer.ts'
import { type Answer, type RunningTestServer, startServer } from '../../support/server.ts'

export const api = '/api/v1'
const mayAll = ['run', 'sessions', 'prompts', 'knowledge:read', 'knowledge:write'] as const

/** Once in a year. */
const scheduleOf = (user: string) => ({ cron: '0 0 1 1 *', agent: 'echo', input: 'private words', user })

/** Somebody with a key. */
export type As = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

export interface People {
  server: RunningTestServer
  /** Sees everything. */
  operator: As
  as(user: string): As
}

/** By what callers say who they are. */
export type Credentials = 'keys' | 'tokens'

/** What a server is told of its callers, and the credential of each. */
async function credentialsOf(users: readonly string[], by: Credentials) {
  if (by === 'keys') {
    const keys = users.map((userId) => ({ key: `key-of-${userId}`, userId, scopes: [...mayAll] }))
    return {
      // Nobody's tokens, beside the keys: their routes are walked, too.
      auth: { keys: ['key-of-operator', ...keys], jwt: { issuer: 'http://127.0.0.1:9', audience } },
      textOf: (who: string) => `key-of-${who}`,
      close: async () => {},
    }
  }
  const issuer = await openIssuer()
  const tokens = new Map([['operator', await issuer.sign({ sub: 'operator', scope: 'boss' })]])
  for (const sub of users) tokens.set(sub, await issuer.sign({ sub, scope: mayAll.join(' ') }))
  return {
    auth: { jwt: { issuer: issuer.url, audience, scopeClaim: 'scope', operatorScope: 'boss' } },
    textOf: (who: string) => tokens.get(who) ?? 'none',
    close: () => issuer.stop(),
  }
}

/** A server with an operator and these users, who may do whatever users may. */
export async function withPeople(
  users: readonly string[],
  config: ServerConfig = {},
  entities: Record<string, object> = {},
  by: Credentials = 'keys',
): Promise<People> {
  const { auth, textOf, close } = await credentialsOf(users, by)
  const server = await startServer(
    {
      auth,
      summaryManager: { summarizer: offlineSummarizer(), timeoutMs: 30_000 },
      a2a: { push: { allowHttp: true, allowPrivate: true } },
      ...config,
    },
    {
      asking: agent({
        async *run({ resumed }) {
          yield resumed === undefined ? { type: 'input_required', call_id: 'may', prompt: 'May I?' } : 'Thanks.'
        },
      }),
      remembering: agent({
        memory: { user: true },
        async run({ text, user }) {
          return (await user.remember(text)).fact_id
        },
      }),
      pair: team({ members: ['echo'], mode: 'sequence' }),
      ...entities,
    },
    { withTests: true, schedules: { 'of-ann': scheduleOf('ann'), 'of-bob': scheduleOf('bob') } },
  )
  const as =
    (who: string): As =>
    (method, path, body, headers = {}) =>
      server.call(method, path, body, { authorization: `Bearer ${textOf(who)}`, ...headers })
  const closeServer = server.close
  server.close = async () => {
    await closeServer()
    await close()
  }
  return { server, operator: as('operator'), as }
}

export const toMessage = (method: string, fields: { messageId: string; contextId?: string }, content = 'hello') => ({
  jsonrpc: '2.0',
  id: '1',
  method,
  params: { message: { role: 'user', agentId: 'echo', parts: [{ type: 'text', content }], ...fields } },
})
