import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

/** The tool answers unless a file `hold` is there. */
const config = `
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, defineConfig, tool } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
import { z } from 'zod'
const look = tool({
  inputSchema: z.object({}),
  execute: async () => {
    appendFileSync('made.txt', 'look\\n')
    while (existsSync('hold')) await sleep(5)
    return 'seen'
  },
})
const model = scriptedModel(({ prompt }) =>
  prompt.at(-1).role === 'tool' ? 'Done.' : { tool_calls: [{ name: 'look', input: {}, call_id: 'c1' }] })
export default defineConfig({
  agents: { clerk: agent({ model, tools: { look } }) },
  server: { studio: { again: true } },
})
`

let project: Project
let server: RunningServer
beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  server = await serve(project, 'start')
})
afterAll(async () => {
  await server.kill()
  await project.remove()
})

async function call(method: string, path: string, body?: object) {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of several routes
  return { status: answer.status, json: (await answer.json()) as any }
}

test('a try whose process is killed is interrupted, and its session is as it was', async () => {
  const { json: first } = await call('POST', '/agents/clerk/run', { input: 'Look.' })
  expect(first).toMatchObject({ status: 'completed', content: 'Done.' })
  const whole = async () => [
    (await call('GET', `/sessions/${first.session_id}`)).json,
    (await call('GET', `/sessions/${first.session_id}/history`)).json,
    (await call('GET', '/sessions?view=head')).json,
  ]
  const before = await whole()
  await project.write('hold', '')
  const again = await call('POST', `/runs/${first.run_id}/again`, { after: 'live' })
  expect(again.status).toBe(202)
  const id: string = again.json.runs[0].run_id
  const made = async () => (await project.read('made.txt')).trim().split('\n').length
  await expect.poll(made, { timeout: 20_000 }).toBe(2)
  await server.kill()
  server = await serve(project, 'start')
  expect((await call('GET', `/runs/${id}`)).json).toMatchObject({
    status: 'interrupted',
    again_of: { run_id: first.run_id, keep: 'no' },
  })
  expect(await whole()).toEqual(before)
  const resumed = await call('POST', `/runs/${id}/resume`, {})
  expect(resumed.status).toBe(409)
  expect(await made()).toBe(2)
})
