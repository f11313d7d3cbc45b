import { expect, test } from 'vitest'
import { createProject, serve } from '../../support/program.ts'

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    careless: agent({
      async *run() {
        Promise.reject(new TypeError('nobody waits for this'))
        yield 'answered'
      },
    }),
  },
})
`

test("logs an agent's stray rejection and goes on serving", async () => {
  const project = await createProject({ 'agent.config.ts': config })
  const server = await serve(project, 'start')
  const ask = () =>
    fetch(`${server.url}/api/v1/agents/careless/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"input":"x"}',
    })
  for (let count = 0; count < 2; count++) expect(await (await ask()).json()).toMatchObject({ content: 'answered' })
  await expect.poll(() => server.stderr()).toContain('nobody waits for this')
  expect((await server.stop()).code).toBe(0)
  await project.remove()
})
