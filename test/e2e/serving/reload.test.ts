import { existsSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { measureReloads } from '../../../bench/reloads.ts'
import { owned } from '../../support/owned.ts'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

let project: Project
let server: RunningServer

afterEach(async () => {
  await server?.stop()
  await project?.remove()
})

const config = `
import { agent, defineConfig } from 'agentserve'
import { greeting } from './lib/greeting.ts'
export default defineConfig({ agents: { hello: agent({ sideEffects: false, run: () => [greeting] }) } })
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
  await expect.poll(ask).toBe('two')
  await write("'three")
  await expect.poll(() => server.stderr()).toMatch(/greeting\.ts:1/)
  expect(await ask()).toBe('two')
  await write("'four'")
  await expect.poll(ask).toBe('four')
  await project.write('agent.config.ts', config.replace('hello:', 'unused: agent({ mode: 1 }), hello:'))
  await expect.poll(() => server.stderr()).toMatch(/agent\.config\.ts:4: .*`mode`/)
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
  const headers = { 'content-type': 'application/json' }
  const waiting = owned(
    fetch(`${server.url}/api/v1/agents/hello/run`, { method: 'POST', headers, body: '{"input":"wait"}' }),
  )
  await expect.poll(running).toBe(1)
  await project.write('agent.config.ts', slow('new'))
  await expect.poll(ask).toBe('new new')
  await project.write('go', '')
  expect(await (await waiting).json()).toMatchObject({ content: 'old old' })
})

test('follows a package of the workspace and CommonJS files', async () => {
  project = await createProject({
    'agent.config.ts': `
import { agent, defineConfig } from 'agentserve'
import { word } from 'words'
import old from './old.cjs'
export default defineConfig({ agents: { hello: agent({ sideEffects: false, run: () => [word, ' ', old] }) } })
`,
    'packages/words/package.json': '{ "name": "words", "type": "module", "exports": "./index.ts" }',
    'packages/words/index.ts': "export const word: string = 'one'",
    'old.cjs': "module.exports = 'a'",
  })
  await symlink(join(project.folder, 'packages/words'), join(project.folder, 'node_modules/words'))
  server = await serve(project)
  expect(await ask()).toBe('one a')
  await project.write('packages/words/index.ts', "export const word: string = 'two'")
  await expect.poll(ask).toBe('two a')
  await project.write('old.cjs', "module.exports = 'b'")
  await expect.poll(ask).toBe('two b')
})

test('keeps sessions, streams and the entities of a run over a reload, and disposes after it', async () => {
  const versionOf = (word: string, id: string) => `
import { agent, defineConfig } from 'agentserve'
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
export default defineConfig({
  agents: {
    ${id}: agent({ description: 'Agent ${word}.', run: () => ['${id}'] }),
    hello: agent({
      async *run(context) {
        yield '${word} '
        while (context.text === 'wait' && !existsSync('go')) await setTimeout(10, undefined, { signal: context.signal })
        yield* context.entity('${id}').run({ text: '', parts: [] }, context)
      },
    }),
  },
  dispose: () => appendFileSync('disposed', '${word} '),
})
`
  project = await createProject({ 'agent.config.ts': versionOf('old', 'elder') })
  server = await serve(project)
  const post = (path: string, body: object) =>
    fetch(`${server.url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await post('/sessions', { session_id: 'mine' })
  const stream = await post('/agents/hello/run/stream', { input: 'wait', session_id: 'mine' })
  const reader = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  let received = ''
  while (!received.includes('old')) received += (await reader.read()).value
  const document = async () => (await fetch(`${server.url}/openapi.json`)).text()
  expect(await document()).toContain('"elder"')
  await project.write('agent.config.ts', versionOf('new', 'younger'))
  await expect.poll(ask).toBe('new younger')
  const ids = async () => (await (await fetch(`${server.url}/api/v1/agents`)).json()) as { agents: { id: string }[] }
  expect((await ids()).agents.map(({ id }) => id)).toEqual(['younger', 'hello'])
  expect(await document()).toContain('"younger"')
  expect(await document()).not.toContain('"elder"')
  expect(existsSync(join(project.folder, 'disposed'))).toBe(false)
  await project.write('go', '')
  for (let next = await reader.read(); !next.done; next = await reader.read()) received += next.value
  expect(received).toMatch(/"text":"elder".*event: run_end/s)
  await expect.poll(() => project.read('disposed').catch(() => '')).toBe('old ')
  const history = await (await fetch(`${server.url}/api/v1/sessions/mine/history`)).json()
  expect(history).toMatchObject({ messages: [{ content: 'wait' }, { content: 'old elder' }] })
  await server.stop()
  expect(await project.read('disposed')).toBe('old new ')
})

test('watches what a run imports later, and shows the line of what Node cannot strip', async () => {
  project = await createProject({
    'agent.config.ts': `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: { hello: agent({ sideEffects: false, async *run() { yield (await import('./late.ts')).word } }) },
})
`,
    'late.ts': "export const word: string = 'one'",
  })
  server = await serve(project)
  expect(await ask()).toBe('one')
  await project.write('late.ts', "export const word: string = 'two'")
  await expect.poll(ask).toBe('two')
  const config = await project.read('agent.config.ts')
  await project.write('agent.config.ts', `enum Kind { A }\n${config}`)
  await expect.poll(server.stderr).toMatch(/agent\.config\.ts:1: .*const object for an enum/)
  expect(server.stderr()).toContain('> 1 | enum Kind { A }')
  expect(await ask()).toBe('two')
})

test('fails no request, cuts no stream and mixes no configs while files are edited or broken', async () => {
  const { editMs, requests, streams, wrong } = await measureReloads(12, 3)
  expect(wrong).toEqual([])
  expect(editMs).toHaveLength(12)
  expect(Math.min(requests, streams)).toBeGreaterThan(0)
})
