import { expect, onTestFinished, test } from 'vitest'
import { audience, openIssuer } from '../../support/issuer.ts'
import { command, createProject, serve } from '../../support/program.ts'

const configOf = (issuer: string) => `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: { echo: agent({ async *run({ text }) { yield text } }) },
  server: { auth: { jwt: { issuer: '${issuer}', audience: '${audience}', scopeClaim: 'scope', operatorScope: 'boss' } } },
})
`

const json = async (url: string) => (await fetch(url)).json() as Promise<Record<string, unknown>>

/** By nothing but the server's address, as a client does that can log a person in. */
async function providerOf(serverUrl: string): Promise<string> {
  const refused = await fetch(`${serverUrl}/mcp`, { method: 'POST', body: '{}' })
  const [, metadata = ''] =
    /^Bearer resource_metadata="([^"]+)"$/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
  const { resource, authorization_servers: servers } = await json(metadata)
  expect([refused.status, resource]).toEqual([401, `${serverUrl}/mcp`])
  return (servers as string[])[0] ?? ''
}

test('tokens open a program and its commands, through a rotation and without the provider', {
  timeout: 120_000,
}, async () => {
  const issuer = await openIssuer()
  onTestFinished(() => issuer.stop())
  const project = await createProject({ 'agent.config.ts': configOf(issuer.url) })
  onTestFinished(() => project.remove())
  const server = await serve(project)
  onTestFinished(async () => void (await server.stop()))
  const { issuer: provider } = await json(`${await providerOf(server.url)}/.well-known/openid-configuration`)
  expect(provider).toBe(issuer.url)

  const chat = (env: Record<string, string>, ...args: string[]) =>
    command(project, ['chat', 'echo', '--url', server.url, ...args], 'hello\n', env)
  const first = await issuer.sign({ scope: 'run sessions' })
  const byFlag = await chat({}, '--key', first)
  expect([byFlag.code, byFlag.stdout]).toEqual([0, expect.stringContaining('hello')])
  const place = { AGENTSERVE_URL: server.url, AGENTSERVE_KEY: first }
  const byEnvironment = await command(project, ['sessions', '--json'], '', place)
  expect([byEnvironment.code, byEnvironment.stdout]).toEqual([0, expect.stringContaining('"user_id":"ann"')])
  const without = await chat({})
  expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('This server requires a token.')])
  const expired = await chat({}, '--key', await issuer.sign({ exp: 1_000 }))
  expect([expired.code, expired.stderr]).toEqual([1, expect.stringContaining('it has expired')])

  const status = async (token: string) =>
    (await fetch(`${server.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status
  await issuer.rotate()
  const second = await issuer.sign({ scope: 'run sessions' })
  // An unknown key is looked for every 30 seconds at most, and tokens by unknown keys count as guesses until then.
  await expect.poll(() => status(second), { timeout: 60_000, interval: 3_000 }).toBe(200)
  // The key that signed it is published no more.
  expect(await status(first)).toBe(401)
  await issuer.stop()
  expect(await status(second)).toBe(200)
  const boss = await issuer.sign({ scope: 'boss', sub: 'operator' })
  const audit = await command(project, ['audit', '--url', server.url, '--key', boss, '--json'])
  expect([audit.code, audit.stdout]).toEqual([0, expect.stringContaining('"caller":"jwt:ann"')])
})
