import { afterEach, expect, test } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../support/program.ts'

let project: Project
let server: RunningServer

afterEach(async () => {
  await server?.stop()
  await project?.remove()
})

const config = `
import { agent, defineConfig } from 'agentserve'
import { greeting } from './lib/greeting.ts'
export default defineConfig({ agents: { hello: agent({ effects: 'none', run: () => [greeting] }) } })
`

async function ask(): Promise<string> {
  const response = await fetch(`${server.url}/api/v1/agents/hello/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"input":"hi"}',
  })
  expect(response.status).toBe(200)
  return ((await response.json()) as { content: string }).content
}

async function running(): Promise<number> {
  const response = await fetch(`${server.url}/api/v1/runs?status=running`)
  return ((await response.json()) as { count: number }).count
}

const write = (words: string) => project.write('lib/greeting.ts', `export const greeting: string = ${words}\n`)

test('serves a saved edit of what the config imports, and keeps the last good one when an edit is broken', async () => {
  project = await createProject({ 'agent.config.ts': config })
  await write("'one'")
  server = await serve(project)
  expect(await ask()).toBe('one')
  await write("'two'")
  await expect.poll(ask, { timeout: 5000 }).toBe('two')
  await write("'three")
  await expect.poll(() => server.stderr(), { timeout: 5000 }).toMatch(/greeting\.ts:1/)
  expect(await ask()).toBe('two')
  await write("'four'")
  await expect.poll(ask, { timeout: 5000 }).toBe('four')
  await project.write('agent.config.ts', config.replace('hello:', 'unused: agent({ mode: 1 }), hello:'))
  await expect.poll(() => server.stderr(), { timeout: 5000 }).toMatch(/agent\.config\.ts:4: .*`mode`/)
  expect(await ask()).toBe('four')
})

test('lets a run that has begun finish on the config that it started with', async () => {
  const slow = (word: string) => `
import { agent, defineConfig } from 'agentserve'
import { setTimeout } from 'node:timers/promises'
import { existsSync } from 'node:fs'
export default defineConfig({
  agents: {
    hello: agent({
      async *run({ text, signal }) {
        yield '${word} '
        while (text === 'wait' && !existsSync('go')) await setTimeout(10, undefined, { signal })
        yield '${word}'
      },
    }),
  },
})
`
  project = await createProject({ 'agent.config.ts': slow('old') })
  server = await serve(project)
  const waiting = fetch(`${server.url}/api/v1/agents/hello/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"input":"wait"}',
  })
  await expect.poll(running).toBe(1)
  await project.write('agent.config.ts', slow('new'))
  await expect.poll(ask, { timeout: 5000 }).toBe('new new')
  await project.write('go', '')
  expect(await (await waiting).json()).toMatchObject({ content: 'old old' })
})
