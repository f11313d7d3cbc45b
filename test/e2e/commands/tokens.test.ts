import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { audience, openIssuer, type TestIssuer } from '../../support/issuer.ts'
import { command, createProject, type Project, serve } from '../../support/program.ts'

const configOf = (issuer: string) => `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: { echo: agent({ async *run({ text, user }) { yield text } }) },
  server: { auth: { jwt: { issuer: '${issuer}', audience: '${audience}', scopeClaim: 'scope', operatorScope: 'boss' } } },
})
`

describe('a command', () => {
  let issuer: TestIssuer
  let project: Project
  beforeAll(async () => {
    issuer = await openIssuer()
    project = await createProject({ 'agent.config.ts': configOf(issuer.url) })
  })
  afterAll(async () => {
    await issuer.stop()
    await project.remove()
  })

  test('needs no token without a server, and does not ask the issuer', async () => {
    const run = await command(project, ['chat', 'echo'], 'hello there\n')
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('hello there')])
    expect((await command(project, ['sessions', 'list', '--json'])).code).toBe(0)
    expect(issuer.asked.size).toBe(0)
  })

  test('sends a token in place of a key, and no token is in a file or in the log', async () => {
    const ann = await issuer.sign({ scope: 'run sessions' })
    const boss = await issuer.sign({ sub: 'cid', scope: 'boss' })
    const expired = await issuer.sign({ exp: Math.floor(Date.now() / 1000) - 100 })
    const server = await serve(project, 'start')
    const as = (token: string, args: string[], input = '') =>
      command(project, [...args, '--url', server.url, '--key', token], input)
    try {
      const run = await as(ann, ['chat', 'echo'], 'hello\n')
      expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('hello')])
      const own = await as(ann, ['sessions', 'list', '--json'])
      expect([own.code, JSON.parse(own.stdout.split('\n')[0] ?? '')]).toEqual([
        0,
        expect.objectContaining({ user_id: 'ann' }),
      ])
      const refused = await as(ann, ['sessions', 'prune', '--older-than', '1d', '--yes'])
      expect(refused.code).toBe(0)
      expect((await as(ann, ['knowledge', 'list'])).stderr).toContain("'knowledge:read'")
      expect((await as(boss, ['knowledge', 'list'])).code).toBe(0)
      const late = await as(expired, ['sessions', 'list'])
      expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('it has expired (exp)')])
      const none = await command(project, ['sessions', 'list'])
      expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('This server requires a token.')])
      const kept = await command(project, ['sessions', 'list'], '', { AGENTSERVE_KEY: boss })
      expect(kept.code).toBe(0)
    } finally {
      await server.stop()
    }
    const log = server.stdout() + server.stderr()
    expect(log).toContain('jwt:ann')
    const files = readdirSync(project.folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => !file.includes('node_modules'))
      .map((file) => join(project.folder, file))
      .filter((file) => statSync(file).isFile())
    expect(files.length).toBeGreaterThan(2)
    for (const token of [ann, boss, expired]) {
      const [, , signature = ''] = token.split('.')
      expect(log).not.toContain(signature)
      for (const file of files) expect([file, readFileSync(file).includes(signature)]).toEqual([file, false])
    }
  })
})
