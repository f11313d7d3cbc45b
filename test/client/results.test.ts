import { afterEach, expect, expectTypeOf, test } from 'vitest'
import type { RunAnswer } from '../../src/client/index.ts'
import { type Client, createClient, type RunStream } from '../../src/client/index.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { createServer, type Server } from '../../src/server.ts'

const source = { type: 'source', index: 1, source: 'a.md', document_id: 'doc_1', chunk_id: 'chk_1' } as const
const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const speaks = agent({
  *run() {
    yield 'one '
    yield source
    yield 'two'
    yield ' [1]'
    yield { type: 'data', data: { three: 3 } }
    yield { type: 'model_call_end', call_id: 'c', usage, finish_reason: 'stop', duration_ms: 1 }
  },
})
const fails = agent({
  *run() {
    yield 'half'
    throw new Error('no luck')
  },
})
const asks = agent({
  *run() {
    yield { type: 'input_required', call_id: 'may', prompt: 'May I?' }
  },
})
const waits = agent({
  async *run({ signal }) {
    yield 'begun'
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  },
})

let server: Server
let client: Client
function open() {
  server = createServer({ logger: { debug() {}, info() {}, warn() {}, error() {} } })
  for (const [id, entity] of Object.entries({ speaks, fails, asks, waits })) server.registerAgent(id, entity)
  client = createClient({ transport: (request) => server.inject(request) })
  return client.agents
}
afterEach(async () => {
  await client.close()
  await server.close({ deadline: 0 })
})

test('a stream read as a whole is the answer of the same run', async () => {
  const stream = await open().stream('speaks', { input: 'x' })
  const result = await stream.result()
  const run = await client.runs.get(stream.runId)
  for (const key of ['run_id', 'session_id', 'status', 'content', 'sources', 'usage', 'cache_hit'] as const) {
    expect(result[key], key).toEqual(run[key])
  }
  expect(result).toMatchObject({
    content: 'one two [1]',
    sources: [{ source: 'a.md', cited: true }],
    usage,
    status: 'completed',
  })
  expect(result.parts).toEqual(run.messages.at(-1)?.parts)
  expect(result.data).toEqual({ three: 3 })
  expect((await client.agents.run('speaks', { input: 'x' })).data).toEqual({ three: 3 })
  expect((await client.agents.run('asks', { input: 'x' })).data).toBeUndefined()
  expect(await stream.text()).toBe('one two [1]')
})

test('events that were taken before count', async () => {
  const stream = await open().stream('speaks', { input: 'x' })
  for await (const event of stream) if (event.type === 'run_end') break
  expect(await stream.text()).toBe('one two [1]')
  const followed = await client.runs.events(stream.runId)
  expect(await followed.text()).toBe('one two [1]')
})

test('a run that fails or is cancelled throws, and one that waits does not', async () => {
  const failed = await open().stream('fails', { input: 'x' })
  await expect(failed.text()).rejects.toMatchObject({ code: 'run_failed', runId: failed.runId })
  const cancelled = await client.agents.stream('waits', { input: 'x' })
  const ended = cancelled.result()
  await client.runs.cancel(cancelled.runId, 'enough')
  await expect(ended).rejects.toMatchObject({ code: 'run_cancelled', message: 'The run was cancelled: enough.' })
  const waiting = await client.agents.stream('asks', { input: 'x' })
  expect(await waiting.result()).toMatchObject({
    status: 'input_required',
    content: '',
    parts: [],
    waiting: [{ call_id: 'may', kind: 'approval', prompt: 'May I?' }],
  })
})

test('a stream that was left has no result', async () => {
  const stream = await open().stream('waits', { input: 'x' })
  for await (const event of stream) if (event.type === 'text_delta') break
  await expect(stream.result()).rejects.toMatchObject({ code: 'unavailable', runId: stream.runId })
})

test('old words are errors that name the new ones', async () => {
  open()
  const old = client.runs as unknown as { start(id: string, input: object): Promise<unknown> }
  expect(() => old.start('speaks', {})).toThrow('client.runs.start() is now called client.agents.run(): rename it.')
  // @ts-expect-error: it is called `apiKey`
  expect(() => createClient({ url: 'http://127.0.0.1:1', key: 'k' })).toThrow('`key` is now called `apiKey`')
})

test('a body has the names of the wire', async () => {
  const agents = open()
  expectTypeOf(agents.run).returns.resolves.toEqualTypeOf<RunAnswer>()
  expectTypeOf(agents.stream).returns.resolves.toEqualTypeOf<RunStream>()
  const { session_id } = await client.sessions.create()
  // @ts-expect-error: it is called `session_id`
  await expect(agents.run('speaks', { input: 'x', sessionId: session_id })).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('session_id'),
  })
})
