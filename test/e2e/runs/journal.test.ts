import { afterEach, expect, it } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

const config = `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test'
import { z } from 'zod'
import { agent, defineConfig, tool, workflow } from 'agentserve'

// The process dies here, once, as by a kill -9 from outside.
async function at(place) {
  if (process.env.KILL_AT !== place || existsSync('killed')) return
  writeFileSync('killed', place)
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => {})
}
const effect = (name, key = '') => appendFileSync('effects', name + ' ' + key + '\\n')

const steps = workflow({
  input: z.object({ topic: z.string() }),
  state: z.object({ done: z.array(z.string()).default([]) }),
  async run({ input, state, step, approve }) {
    const work = (name) => async ({ idempotencyKey }) => {
      await at('begin ' + name)
      effect(name, idempotencyKey)
      state.done = [...state.done, name]
      await at('in ' + name)
      return input.topic + ' ' + name
    }
    await at('start')
    const first = await step('first', work('first'))
    await at('after first')
    const [left, right] = await Promise.all([step('left', work('left')), step('right', work('right'))])
    await at('after both')
    await approve('publish', { left, right })
    await at('approved')
    const last = await step('last', work('last'))
    await at('after last')
    return [first, left, right, last].join(', ')
  },
})

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
const say = (...parts) => ({ stream: simulateReadableStream({ chunks: [{ type: 'stream-start', warnings: [] }, ...parts], initialDelayInMs: null, chunkDelayInMs: null }) })
const model = new MockLanguageModelV4({
  doStream: async ({ prompt }) => prompt.at(-1).role === 'tool'
    ? say({ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'Sent.' }, { type: 'text-end', id: 't' },
        { type: 'finish', usage, finishReason: { unified: 'stop', raw: 'stop' } })
    : say({ type: 'tool-call', toolCallId: 'c1', toolName: 'send', input: '{}' },
        { type: 'finish', usage, finishReason: { unified: 'tool-calls', raw: 'x' } }),
})
const send = tool({
  inputSchema: z.object({}),
  execute: async () => {
    effect('send')
    await at('in send')
    return 'ok'
  },
})

export default defineConfig({
  agents: { sender: agent({ model, tools: { send }, toolApproval: { send: 'user-approval' } }) },
  workflows: { steps },
})
`

let project: Project | undefined
let running: RunningServer | undefined
afterEach(async () => {
  await running?.kill()
  await project?.remove()
  running = project = undefined
})

async function open(): Promise<Project> {
  project = await createProject({ 'agent.config.js': config })
  return project
}

async function begin(at: Project, killAt: string): Promise<RunningServer> {
  running = await serve(at, 'start', [], { KILL_AT: killAt })
  return running
}

async function call(server: RunningServer, method: string, path: string, body?: unknown) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  return { status: response.status, json: (await response.json()) as any }
}

async function start(server: RunningServer, entity: string, input: unknown): Promise<string> {
  const parts = typeof input === 'string' ? input : { parts: [{ type: 'data', data: input }] }
  const { status, json } = await call(server, 'POST', `/agents/${entity}/run`, { input: parts, background: true })
  expect(status, JSON.stringify(json)).toBe(202)
  return json.run_id
}

/** The status at which the run's stream ends; undefined when the process dies first. */
async function settle(server: RunningServer, runId: string): Promise<string | undefined> {
  try {
    await (await fetch(`${server.url}/api/v1/runs/${runId}/events`)).text()
    return (await call(server, 'GET', `/runs/${runId}`)).json.status
  } catch {
    await server.finished
    return undefined
  }
}

const resume = (server: RunningServer, runId: string, body: unknown) =>
  call(server, 'POST', `/runs/${runId}/resume`, body).catch(() => undefined)

async function effects(at: Project) {
  const lines = (await at.read('effects')).trim().split('\n')
  return lines.map((line) => line.split(' '))
}

/** The steps that had no recorded result when the process died there. */
function underWay(place: string): string[] {
  const name = place.split(' ')[1] ?? ''
  if (place.startsWith('after')) return []
  return ['left', 'right'].includes(name) ? ['left', 'right'] : [name]
}

const places = [
  'start',
  ...['begin first', 'in first', 'after first'],
  ...['begin left', 'in left', 'begin right', 'in right', 'after both', 'paused'],
  ...['approved', 'begin last', 'in last', 'after last'],
]

it.each(places)(
  'a workflow killed at "%s" goes on where it was, and does nothing twice that was recorded',
  async (place) => {
    const at = await open()
    let server = await begin(at, place)
    const runId = await start(server, 'steps', { topic: 'tea' })
    let status = await settle(server, runId)
    if (place === 'paused') {
      await at.write('killed', place)
      await server.kill()
      status = undefined
    }
    for (let turn = 0; status !== 'completed'; turn++) {
      if (status === undefined) {
        server = await begin(at, place)
        status = (await call(server, 'GET', `/runs/${runId}`)).json.status
      }
      expect(['interrupted', 'input_required']).toContain(status)
      expect(turn).toBeLessThan(4)
      await resume(server, runId, status === 'input_required' ? { approved: true } : {})
      status = await settle(server, runId)
    }
    expect(await at.read('killed')).toBe(place)
    const { json } = await call(server, 'GET', `/runs/${runId}`)
    expect(json.content).toBe('tea first, tea left, tea right, tea last')
    const { json: session } = await call(server, 'GET', `/sessions/${json.session_id}`)
    expect(session.state.done.toSorted()).toEqual(expect.arrayContaining(['first', 'last', 'left', 'right']))

    const done = await effects(at)
    for (const name of ['first', 'left', 'right', 'last']) {
      const keys = done.filter(([effect]) => effect === name).map(([, key]) => key)
      expect(keys.length, name).toBeGreaterThanOrEqual(1)
      expect(keys.length, name).toBeLessThanOrEqual(underWay(place).includes(name) ? 2 : 1)
      expect(new Set(keys)).toEqual(new Set([`${runId}/${name}#1`]))
    }
    await server.stop()
  },
  60_000,
)

it('an agent that waits for approval still waits after a kill, and does what is approved once', async () => {
  const at = await open()
  let server = await begin(at, 'nowhere')
  const runId = await start(server, 'sender', 'Send it')
  expect(await settle(server, runId)).toBe('input_required')
  await server.kill()
  server = await begin(at, 'nowhere')
  expect((await call(server, 'GET', `/runs/${runId}`)).json.status).toBe('input_required')
  expect((await resume(server, runId, { approved: true }))?.status).toBe(202)
  expect(await settle(server, runId)).toBe('completed')
  expect((await call(server, 'GET', `/runs/${runId}`)).json.content).toBe('Sent.')
  expect(await effects(at)).toEqual([['send', '']].map(([name]) => [name]))
  await server.stop()
}, 60_000)

it('an agent killed in the approved call is interrupted, and nobody makes it call again', async () => {
  const at = await open()
  let server = await begin(at, 'in send')
  const runId = await start(server, 'sender', 'Send it')
  expect(await settle(server, runId)).toBe('input_required')
  await resume(server, runId, { approved: true })
  expect(await settle(server, runId)).toBeUndefined()
  server = await begin(at, 'in send')
  expect((await call(server, 'GET', `/runs/${runId}`)).json.status).toBe('interrupted')
  expect((await resume(server, runId, { approved: false }))?.status).toBe(409)
  // The answer is the one that the run has: it follows the run.
  expect((await resume(server, runId, { approved: true }))?.status).toBe(202)
  expect((await call(server, 'GET', `/runs/${runId}`)).json.status).toBe('interrupted')
  expect(await effects(at)).toHaveLength(1)
  await server.stop()
}, 60_000)
