import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project, serve } from '../support/program.ts'

let project: Project
beforeAll(async () => {
  project = await createProject({
    'agent.config.ts': `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: { docs: agent({ knowledge: true }) },
  server: { prefix: '/moved', a2a: { prefix: '/talk' }, healthPath: '/alive' },
})
`,
    'docs/a.md': '# The lighthouse\n\nThe lighthouse keeper lights the lamp at dusk.\n',
  })
})
afterAll(() => project.remove())

async function status() {
  const { stdout, code } = await command(project, ['knowledge', 'status', '--json'])
  expect(code).toBe(0)
  return JSON.parse(stdout) as Record<string, unknown>
}

test('shows the state of the knowledge base and embeds it again', async () => {
  expect((await command(project, ['ingest', 'docs'])).code).toBe(0)
  expect(await status()).toMatchObject({ documents: 1, chunks: 1, vectors: 1, pending: 0 })
  const again = await command(project, ['knowledge', 'reindex', '--embedder', 'lexical'])
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('lexical') })
  expect(await status()).toMatchObject({ chunks: 1, vectors: 1 })
  expect((await command(project, ['knowledge', 'paint'])).code).toBe(2)
  expect((await command(project, ['knowledge', 'status', '--embedder', 'lexical'])).code).toBe(2)
})

test('finds a running server that has moved its routes', async () => {
  const server = await serve(project, 'start')
  expect(await status()).toMatchObject({ documents: 1 })
  const { stdout } = await command(project, ['chat', 'docs', '--message', 'When does the keeper light the lamp?'])
  expect(stdout).toContain('docs/a.md:3')
  expect((await server.stop()).code).toBe(0)
  await expect(project.read('.agentserve/server.json')).rejects.toThrow()
})
