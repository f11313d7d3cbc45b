import { describe, test } from 'vitest'
import { command, createProject, serve } from '../../support/program.ts'

const config = (server: object, word = 'hello') => `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({ agents: { hello: agent({ run: () => ['${word}'] }) }, server: ${JSON.stringify(server)} })
`
const clash =
  "agent.config.ts: server.healthPath ('/v1/models') and server.openai.prefix ('/v1') both lead to '/v1/models': change one of them.\n"

describe('settings that lead to the same path', () => {
  test('end dev, start and every command with 1 and one line', async ({ expect, onTestFinished }) => {
    const project = await createProject({ 'agent.config.ts': config({ healthPath: '/v1/models' }) })
    onTestFinished(() => project.remove())
    for (const args of [['dev', '--port', '0'], ['start', '--port', '0'], ['agents']])
      expect(await command(project, args)).toEqual({ code: 1, signal: null, stdout: '', stderr: clash })
  })

  test('are told of by dev when they are saved, and the last good config is served on', async ({
    expect,
    onTestFinished,
  }) => {
    const project = await createProject({ 'agent.config.ts': config({}) })
    onTestFinished(() => project.remove())
    const server = await serve(project)
    onTestFinished(() => void server.stop())
    await project.write('agent.config.ts', config({ healthPath: '/v1/models' }, 'two'))
    await expect
      .poll(() => server.stderr(), { timeout: 20_000 })
      .toContain(`${clash}Still serving the last good config.`)
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    await project.write('agent.config.ts', config({ healthPath: '/alive' }, 'three'))
    await expect.poll(() => server.stderr(), { timeout: 20_000 }).toContain('take effect after a restart')
  })
})
