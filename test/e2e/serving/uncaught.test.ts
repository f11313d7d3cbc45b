import { expect, test } from 'vitest'
import { createProject, serve } from '../../support/program.ts'

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    broken: agent({
      async *run() {
        yield 'begun'
        setTimeout(() => { throw new TypeError('nobody can catch this') }, 10)
        await new Promise(() => {})
      },
    }),
  },
})
`

test('says what ran when an error that nobody can catch ends the program', async () => {
  const project = await createProject({ 'agent.config.ts': config })
  const server = await serve(project, 'start')
  const response = await fetch(`${server.url}/api/v1/agents/broken/run/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': 'the-one-that-broke' },
    body: '{"input":"x"}',
  })
  await response.text().catch(() => '')
  const { code, stderr } = await server.finished
  expect(code).toBe(1)
  // After the log, where a person looks.
  expect(stderr.trim().split('\n').at(-1)).toContain('The server stops: nobody can catch this')
  expect(stderr).toContain(response.headers.get('x-run-id'))
  expect(stderr).toContain('the-one-that-broke')
  await project.remove()
})
