import { expect, test } from 'vitest'
import { createProject, launch, serve } from '../../support/program.ts'

const config = `import { appendFileSync } from 'node:fs'
import { agent, defineConfig } from 'agentserve'

const summarizer = {
  name: 'fatal',
  async summarize() {
    appendFileSync('begun.txt', 'begun\\n')
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => {})
  },
}
export default defineConfig({
  server: { summaryManager: { summarizer, timeoutMs: 10_000 } },
  agents: { echo: agent({ async *run({ text }) { yield text } }) },
})
`

test('a summary that ends the process each time is given up at the fourth start', async () => {
  const project = await createProject({ 'agent.config.ts': config })
  const first = await serve(project, 'start')
  const post = (path: string, body: object) =>
    fetch(`${first.url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await (await post('/sessions', { session_id: 's' })).text()
  await (await post('/agents/echo/run', { input: 'hello', session_id: 's' })).text()
  await post('/sessions/s/summary?async=true', {}).catch(() => {})
  expect((await first.finished).signal).toBe('SIGKILL')
  for (const attempt of [2, 3]) {
    const next = await launch(project, ['start', '--port', '0', '--json']).finished
    expect([attempt, next.signal]).toEqual([attempt, 'SIGKILL'])
  }
  const last = await serve(project, 'start')
  await expect.poll(last.stderr, { timeout: 10_000 }).toContain('It was begun 3 times and never ended')
  expect((await fetch(`${last.url}/health`)).status).toBe(200)
  expect((await last.stop()).code).toBe(0)
  expect(await project.read('begun.txt')).toBe('begun\n'.repeat(3))
  await project.remove()
}, 30_000)
