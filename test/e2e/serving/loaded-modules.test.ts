import { expect, onTestFinished, test } from 'vitest'
import { createProject, serve } from '../../support/program.ts'

const config = `
import { agent } from 'agentserve'
const loaded = process.moduleLoadList.join('\\n')
export default { agents: { loaded: agent({ async *run() { yield loaded } }) } }`

test('a start loads neither the fetch nor the HTTP/2 of Node, which nothing uses', { timeout: 60_000 }, async () => {
  const project = await createProject({ 'agent.config.ts': config })
  onTestFinished(() => project.remove())
  const server = await serve(project, 'start')
  onTestFinished(async () => {
    server.child.kill('SIGKILL')
    await server.finished
  })
  const answer = await fetch(`${server.url}/api/v1/agents/loaded/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'x' }),
  })
  const { content } = (await answer.json()) as { content: string }
  expect(content).toContain('NativeModule http')
  expect(content.split('\n').filter((name) => /undici|http2|webstreams|parse_args/.test(name))).toEqual([])
})
