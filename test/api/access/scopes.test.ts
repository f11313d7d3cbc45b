import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KeySettings } from '../../../src/config/settings/keys.ts'
import { type Access, type Scope, scopes, scopesOf } from '../../../src/core/access/scope.ts'
import type { Route } from '../../../src/http/router.ts'
import { audience, openIssuer, type TestIssuer } from '../../support/issuer.ts'
import { type Answer, type RunningTestServer, startServer } from '../../support/server.ts'
import { mountedRoutes } from './routes.ts'

/* What each kind of key may do, route by route: as docs/security.md says, and as the server does. */

const ofUsers: readonly Scope[] = ['run', 'sessions', 'knowledge:read']
const never: readonly Scope[] = ['admin', 'metrics']
const routes = mountedRoutes()

const named = (ways: readonly (readonly Scope[])[]) =>
  ways.map((needed) => needed.map((scope) => `\`${scope}\``).join(' and ')).join(' or ')
const lackingOf = (access: Access, granted: readonly Scope[]) =>
  scopesOf(access).map((needed) => needed.filter((scope) => !granted.includes(scope)))

function toRow(method: string, path: string, access: Access): string {
  const ways = scopesOf(access)
  const lacking = lackingOf(access, ofUsers)
  if (access === 'operator') return `| \`${method} ${path}\` | no | never | never | yes |`
  const ofUser = ways.every((needed) => needed.some((scope) => never.includes(scope)))
    ? 'never'
    : lacking.some((scopes) => scopes.length === 0)
      ? 'yes'
      : `with ${named(lacking)}`
  const withScopes = ways.some((needed) => needed.length === 0) ? 'yes' : `with ${named(ways)}`
  return `| \`${method} ${path}\` | ${access === 'open' ? 'yes' : 'no'} | ${ofUser} | ${withScopes} | yes |`
}

test('docs/security.md has the table of what each kind of key may do, and no row that is not so', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/security.md'), 'utf8')
  const rows = guide
    .split('\n')
    .filter((line) => /^\| `(?:GET|POST|PUT|PATCH|DELETE) \/[^`]*` \|(?:[^|]*\|){4}$/.test(line))
  expect(rows).toEqual(routes.map(({ method, path, scope }) => toRow(method, path, scope)))
})

test('a route without an entry does not compile', () => {
  const handler = () => ({ status: 204 })
  // @ts-expect-error: it does not say who may call it
  const route: Route = { method: 'GET', path: '/x', handler }
  expect(route).not.toHaveProperty('scope')
})

interface Kind {
  name: string
  key: KeySettings | string | undefined
  granted: readonly Scope[]
}

const kinds: Kind[] = [
  { name: 'no key', key: undefined, granted: [] },
  { name: 'an operator, as a text', key: 'key-of-operator', granted: scopes },
  { name: 'an operator, as an object', key: { key: 'key-of-desk', id: 'desk' }, granted: scopes },
  { name: 'a user', key: { key: 'key-of-ann', userId: 'ann' }, granted: ofUsers },
  {
    name: 'a user who may see prompts',
    key: { key: 'key-of-bob', userId: 'bob', scopes: [...ofUsers, 'prompts'] },
    granted: [...ofUsers, 'prompts'],
  },
  { name: 'a key that may do nothing', key: { key: 'key-of-none', scopes: [] }, granted: [] },
  ...scopes.map((scope) => ({
    name: `a key with ${scope}`,
    key: { key: `key-with-${scope}`, scopes: [scope] },
    granted: [scope],
  })),
]

const userOf = ({ key }: Kind) => (typeof key === 'object' && 'userId' in key ? String(key.userId) : 'ann')

const textOf = ({ key }: Kind) => (typeof key === 'string' ? key : key?.key)

/** A token with the rights of the key. */
async function tokenOf(issuer: TestIssuer, { key }: Kind): Promise<string | undefined> {
  if (key === undefined) return undefined
  const { userId, scopes = undefined } = typeof key === 'string' ? { userId: undefined } : key
  if (userId !== undefined) return issuer.sign({ sub: userId, scope: (scopes ?? ofUsers).join(' ') })
  return issuer.sign({ sub: 'program', scope: scopes === undefined ? 'boss' : ['everybody', ...scopes] })
}

describe.each(['key', 'token'])('the server lets each kind of %s do what the table says', (by) => {
  let server: RunningTestServer
  let issuer: TestIssuer | undefined
  const texts = new Map(kinds.map((kind) => [kind, textOf(kind)]))

  beforeAll(async () => {
    if (by === 'token') {
      issuer = await openIssuer()
      for (const kind of kinds) texts.set(kind, await tokenOf(issuer, kind))
    }
    const auth =
      issuer === undefined
        ? { keys: kinds.flatMap(({ key }) => key ?? []), jwt: { issuer: 'http://127.0.0.1:9', audience } }
        : {
            jwt: {
              issuer: issuer.url,
              audience,
              scopeClaim: 'scope',
              operatorScope: 'boss',
              allUsersScope: 'everybody',
            },
          }
    server = await startServer({ studio: { again: true }, auth }, {}, { withTests: true })
  })
  afterAll(async () => {
    await server.close()
    await issuer?.stop()
  })

  const ask = (kind: Kind, method: string, path: string, body?: unknown): Promise<Answer> => {
    const text = texts.get(kind)
    const auth: Record<string, string> = text === undefined ? {} : { authorization: `Bearer ${text}` }
    return server.call(method, path, body, { 'content-type': 'application/json', ...auth })
  }
  const codeOf = ({ json, headers }: Answer) => json?.error?.code ?? headers.get('x-error-code')

  test('mounts the routes that are walked here, and OpenAPI says what they need', async () => {
    const operator = kinds[1] as Kind
    const { paths } = (await ask(operator, 'GET', '/openapi.json')).json as {
      paths: Record<string, Record<string, { security?: { bearer?: Scope[] }[] }>>
    }
    const told = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security }]) => {
        const ways = security?.flatMap(({ bearer }) => (bearer === undefined ? [] : [bearer]))
        const needs = ways === undefined ? 'any' : ways.length === 0 ? 'open' : ways
        return JSON.stringify([method.toUpperCase(), path, needs])
      }),
    )
    const mounted = routes.map(({ method, path, scope }) => {
      const needs = scope === 'operator' ? 'any' : scope === 'open' || scope === 'any' ? scope : scopesOf(scope)
      return JSON.stringify([method, path, needs])
    })
    expect(told.sort()).toEqual(mounted.sort())
  })

  test.each(kinds)('$name', async (kind) => {
    for (const { method, path, scope } of routes) {
      // A key of a user may only name its own user.
      const own = path.includes('/facts') ? path.replace('{user_id}', userOf(kind)) : path
      const target = own.replace('{id}', 'none').replace('{file}', 'docs.js').replace('{kind}', 'user')
      const answer = await ask(kind, method, target.replace(/\{\w+\}/, 'none'), method === 'GET' ? undefined : '[')
      const about = `${method} ${path}`
      const isRpc = method === 'POST' && /\/a2a\/(?:\w+Message|agents\/\{id\})$|^\/mcp$/.test(path)
      // HTTP+JSON of A2A has the status in its errors.
      const isRest = /\{id\}\/(?:message:|tasks|extendedAgentCard)/.test(path) && path.includes('/a2a/')
      const code = (status: number, usual: string) => (isRpc ? -32600 : isRest ? status : usual)
      if (scope !== 'open' && kind.key === undefined) {
        const usual = path.startsWith('/v1/') ? 'invalid_api_key' : 'unauthorized'
        expect([about, answer.status, codeOf(answer)]).toEqual([about, 401, code(401, usual)])
        continue
      }
      const lacking = scope === 'operator' && kind.granted === scopes ? [[]] : lackingOf(scope, kind.granted)
      if (lacking.some((scopes) => scopes.length === 0)) {
        expect([about, [401, 403].includes(answer.status)]).toEqual([about, false])
        continue
      }
      expect([about, answer.status, codeOf(answer)]).toEqual([about, 403, code(403, 'forbidden')])
      for (const [first] of lacking) expect(answer.json?.error.message ?? answer.text).toContain(`'${first}'`)
    }
  })

  test('exact prompts need the scope prompts, wherever they are asked for', async () => {
    const [operator, user, seer] = [kinds[1], kinds[3], kinds[4]] as [Kind, Kind, Kind]
    for (const [kind, status] of [
      [operator, 200],
      [user, 403],
      [seer, 200],
    ] as const) {
      const run = (query: string) => ask(kind, 'POST', `/api/v1/agents/docs/run${query}`, { input: 'hello' })
      const { run_id, session_id } = (await run('')).json
      const statuses = [
        await run('?include=prompts'),
        await ask(kind, 'POST', '/api/v1/agents/docs/run/stream?include=prompts', { input: 'hello' }),
        await ask(kind, 'GET', `/api/v1/runs/${run_id}/events?include=prompts`),
        await ask(kind, 'GET', `/api/v1/runs/${run_id}/trace`),
      ].map((answer) => answer.status)
      expect([kind.name, statuses]).toEqual([kind.name, Array(4).fill(status)])
      expect((await ask(kind, 'POST', `/api/v1/runs/${run_id}/resume?include=prompts`, {})).status).toBe(
        status === 403 ? 403 : 409,
      )
      expect((await ask(kind, 'GET', `/api/v1/runs/${run_id}/events`)).text).not.toMatch(/"prompt"|"messages"/)
      const copy = await ask(kind, 'GET', `/api/v1/sessions/${session_id}/export`)
      const starts = copy.text.split('\n').filter((line) => line.includes('"model_call_start"'))
      expect(starts.length).toBeGreaterThan(0)
      for (const line of starts) {
        const call = JSON.parse(line).events.find(({ type }: { type: string }) => type === 'model_call_start')
        expect([kind.name, 'prompt' in call]).toEqual([kind.name, status === 200])
      }
    }
  })

  test('an agent reads knowledge for a caller who may not', async () => {
    const answer = await ask(kinds[1] as Kind, 'POST', '/api/v1/knowledge/content', {
      content: 'The lighthouse keeper is called Ottilie.',
    })
    expect(answer.status).toBe(201)
    const runner = kinds.find(({ key }) => typeof key === 'object' && key.key === 'key-with-run') as Kind
    expect((await ask(runner, 'POST', '/api/v1/knowledge/search', { query: 'Ottilie' })).status).toBe(403)
    const run = await ask(runner, 'POST', '/api/v1/agents/docs/run', { input: 'Who is the lighthouse keeper?' })
    expect([run.status, run.json.content]).toEqual([200, expect.stringContaining('Ottilie')])
  })

  test('pruning over all users needs the scope admin', async () => {
    const clerk = kinds.find(({ key }) => typeof key === 'object' && key.key === 'key-with-sessions') as Kind
    const prune = (kind: Kind, body: object) =>
      ask(kind, 'POST', '/api/v1/sessions/prune', { updated_before: '2000-01-01T00:00:00.000Z', ...body })
    expect((await prune(clerk, {})).json.error.message).toContain("'admin'")
    expect((await prune(clerk, { agent_id: 'echo' })).status).toBe(403)
    expect((await prune(clerk, { user_id: 'ann' })).status).toBe(200)
    expect((await prune(kinds[1] as Kind, {})).status).toBe(200)
    expect((await prune(kinds[3] as Kind, {})).status).toBe(200)
  })
})
