import { createHmac, timingSafeEqual } from 'node:crypto'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Logger } from '../../../src/core/logger.ts'
import type { Runnable } from '../../../src/core/runnable.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import type { Webhook } from '../../../src/core/triggers/webhook.ts'
import type { Network } from '../../../src/runtime/public-network.ts'
import { WebhookService } from '../../../src/service/webhooks/webhooks.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { type ManualTimers, manualTimers } from '../../support/manual-timers.ts'
import { type Received, type Receiver, startReceiver } from '../../support/push-receiver.ts'
import { echo, gate, openServices, request, runnable } from '../../support/services.ts'

const key = Buffer.alloc(32, 7)
let receiver: Receiver
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(() => receiver.close())

const asks = runnable(async function* (_input, { resumed }) {
  if (resumed === undefined) yield { type: 'input_required', call_id: 'c1', kind: 'approval', prompt: 'a secret plan?' }
  else yield 'done'
})
const fails = runnable(async function* () {
  yield 'half'
  throw new Error('a secret cause')
})

function webhookOf(more: Partial<Webhook> = {}): Webhook {
  return {
    name: 'ops',
    url: receiver.url,
    keys: [key],
    events: undefined,
    agents: undefined,
    contents: false,
    allowHttp: true,
    allowPrivate: true,
    timeoutMs: 2_000,
    ...more,
  }
}

/** A verifier as receivers have it, written from the text of the convention alone. */
function verified({ headers, text }: Received, secret: Buffer): boolean {
  const [id, time] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])]
  if (Math.abs(Date.now() / 1000 - Number(time)) > 300) return false
  const expected = createHmac('sha256', secret).update(`${id}.${time}.${text}`).digest()
  return String(headers['webhook-signature'])
    .split(' ')
    .some((one) => {
      const [version, given = ''] = one.split(',')
      const bytes = Buffer.from(given, 'base64')
      return version === 'v1' && bytes.length === expected.length && timingSafeEqual(bytes, expected)
    })
}

interface Told {
  service: WebhookService
  timers: ManualTimers
  logged: string[]
  say(agent: string, text?: string): Promise<string>
  runs: Awaited<ReturnType<typeof openServices>>['runs']
  /** Lets time pass, step by step. */
  pass(ms: number): Promise<void>
}

async function open(
  webhooks: readonly Webhook[],
  store: SessionStore = memoryStore(),
  {
    entities = {},
    network = { lookup: async () => [] },
  }: { entities?: Record<string, Runnable>; network?: Network } = {},
): Promise<Told> {
  const logged: string[] = []
  const log = (fields: object, message: string) => void logged.push(`${JSON.stringify(fields)} ${message}`)
  const logger = { debug: log, info: log, warn: log, error: log } as unknown as Logger
  const timers = manualTimers()
  let shiftMs = 0
  const clock = () => Date.now() + shiftMs
  const service = new WebhookService(webhooks, { store, runs: () => services.runs, clock, timers, logger, network })
  const services = await openServices({ echo, asks, fails, ...entities }, service.watching(store))
  service.takeUp(true)
  return {
    service,
    timers,
    logged,
    runs: services.runs,
    async say(agent, text = 'a secret question') {
      const handle = await services.runs.start(request(agent, text))
      await handle.result()
      return handle.runId
    },
    async pass(ms) {
      shiftMs += ms
      timers.advance(ms)
      await service.idle()
    },
  }
}

const told = () => receiver.received.map(({ json }) => json.type)
const arrived = (count: number) =>
  vi.waitFor(() => expect(receiver.received.length).toBeGreaterThanOrEqual(count), 10_000)

it('tells the end of a run, signed, without what was said', async () => {
  const { service, say } = await open([webhookOf()])
  const runId = await say('echo')
  await arrived(1)
  await service.idle()
  const [first] = receiver.received
  expect(first?.json).toMatchObject({
    type: 'run.completed',
    timestamp: expect.stringMatching(/Z$/),
    data: { run_id: runId, entity_id: 'echo', status: 'completed', error: null, waiting: [] },
  })
  expect(first?.text).not.toContain('secret')
  expect(first?.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': expect.stringMatching(/^msg_run_\w+_\d+$/),
  })
  expect(first && verified(first, key)).toBe(true)
  expect(first && verified(first, Buffer.alloc(32, 8))).toBe(false)
  expect(first && verified({ ...first, text: `${first.text} ` }, key)).toBe(false)
  await service.close()
})

it('signs with each key, and sends contents when it is asked to', async () => {
  const other = Buffer.alloc(24, 9)
  const { service, say } = await open([webhookOf({ keys: [other, key], contents: true })])
  await say('echo')
  await say('fails')
  await arrived(2)
  const [first, second] = receiver.received
  expect(first && verified(first, key) && verified(first, other)).toBe(true)
  expect(first?.json.data).toMatchObject({ input: 'a secret question', output: 'a secret question' })
  expect(second?.json).toMatchObject({
    type: 'run.failed',
    data: { output: 'half', error: { code: expect.any(String) } },
  })
  await service.close()
})

it('tells a pause for an approval and then the end, each under an id of its own', async () => {
  const { service, say, runs } = await open([webhookOf()])
  const runId = await say('asks')
  await arrived(1)
  await service.idle()
  expect(receiver.received[0]?.json).toMatchObject({
    type: 'run.input_required',
    data: { waiting: [{ kind: 'approval', call_id: 'c1', tool: null }] },
  })
  expect(receiver.received[0]?.text).not.toContain('secret')
  await (await runs.resume(runId, { approved: true, mode: 'plain' })).result()
  await arrived(2)
  await service.idle()
  expect(told()).toEqual(['run.input_required', 'run.completed'])
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
  await service.close()
})

it('tells only the events and agents that a webhook wants, and no child runs', async () => {
  const { service, say } = await open([
    webhookOf({ events: ['run.failed'] }),
    webhookOf({ name: 'echoes', agents: ['echo'], url: `${receiver.url}/echoes` }),
  ])
  for (const agent of ['echo', 'fails', 'asks']) await say(agent)
  await arrived(2)
  await service.idle()
  expect(receiver.received.map(({ path, json }) => [path, json.type]).sort()).toEqual([
    ['/hook', 'run.failed'],
    ['/hook/echoes', 'run.completed'],
  ])
  await service.close()
})

it('tries again with pauses while the receiver is down, under the same id, and gives up after days', async () => {
  const store = memoryStore()
  const { service, say, pass, logged } = await open([webhookOf()], store)
  receiver.answer((_, response) => void response.writeHead(503).end())
  await say('echo')
  await arrived(1)
  await service.idle()
  await pass(3_000)
  expect(receiver.received).toHaveLength(1)
  for (let tries = 2; tries < 6; tries++) await pass(40 * 60_000)
  expect(receiver.received.length).toBeGreaterThanOrEqual(5)
  receiver.answer((_, response) => void response.writeHead(204).end())
  await pass(3 * 3_600_000)
  const count = receiver.received.length
  await pass(30 * 86_400_000)
  expect(receiver.received).toHaveLength(count)
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(
    receiver.received.every((one) => new Date(Number(one.headers['webhook-timestamp']) * 1000) > new Date(0)),
  ).toBe(true)
  expect(logged.join('\n')).toContain('it answered 503')
  expect(logged.join('\n')).not.toMatch(/\/hook|BwcHBw/)
  receiver.answer((_, response) => void response.writeHead(500).end())
  await say('echo')
  for (let days = 0; days < 40; days++) await pass(86_400_000)
  expect(logged.at(-1)).toContain('a webhook message was given up')
  expect(receiver.received).toHaveLength(count + 12)
  await service.close()
})

it('stops at once for a receiver that is gone, and waits as long as one asks', async () => {
  const { service, say, pass, logged } = await open([webhookOf()])
  receiver.answer((_, response) => void response.writeHead(410).end())
  await say('echo')
  await arrived(1)
  await pass(86_400_000)
  expect(receiver.received).toHaveLength(1)
  expect(logged.join('\n')).toContain('given up')
  receiver.answer((_, response) => void response.writeHead(429, { 'retry-after': '3600' }).end())
  await say('echo')
  await arrived(2)
  await service.idle()
  await pass(50 * 60_000)
  expect(receiver.received).toHaveLength(2)
  await pass(15 * 60_000)
  expect(receiver.received).toHaveLength(3)
  await service.close()
})

it('follows no redirect, and connects to no private address', async () => {
  const reached = await startReceiver()
  const store = memoryStore()
  const network: Network = { lookup: async () => [{ address: '127.0.0.1', family: 4 }] }
  const { service, say, logged } = await open(
    [
      webhookOf(),
      webhookOf({ name: 'inside', url: `http://inside.test:${receiver.port}/`, allowPrivate: false }),
      webhookOf({ name: 'literal', url: `http://127.0.0.1:${receiver.port}/`, allowPrivate: false }),
    ],
    store,
    { network },
  )
  receiver.answer((_, response) => void response.writeHead(307, { location: reached.url }).end())
  await say('echo')
  await vi.waitFor(
    () => expect(logged.filter((line) => line.includes('could not be delivered'))).toHaveLength(3),
    10_000,
  )
  expect(receiver.received).toHaveLength(1)
  expect(reached.connections()).toBe(0)
  expect(logged.join('\n')).toContain('it answered 307')
  await service.close()
  await reached.close()
})

it('tells after a restart what was not told before, also of runs that the restart interrupts', async () => {
  const store = memoryStore()
  const { runnable: waits, begun } = gate()
  const first = await open([webhookOf()], store, { entities: { waits } })
  receiver.answer((request) => void request.socket.destroy())
  const runId = await first.say('echo')
  await arrived(1)
  const open_ = await first.runs.start(request('waits', 'x'))
  await begun(0)
  // The process is killed: nothing of it writes any more.
  await first.service.close()
  receiver.answer((_, response) => void response.writeHead(204).end())
  receiver.received.length = 0
  await store.recover('own_next', new Date().toISOString())
  const second = await open([webhookOf()], store)
  await arrived(2)
  await second.service.idle()
  expect(receiver.received.map(({ json }) => [json.type, json.data.run_id]).sort()).toEqual([
    ['run.completed', runId],
    ['run.interrupted', open_.runId],
  ])
  await second.pass(86_400_000)
  expect(receiver.received).toHaveLength(2)
  await second.service.close()
})

it('sends each message once with several processes on one store', async () => {
  const store = memoryStore()
  const all = await Promise.all([1, 2, 3].map(() => open([webhookOf()], store)))
  await Promise.all(all.flatMap(({ say }) => Array.from({ length: 10 }, () => say('echo'))))
  await arrived(30)
  for (const one of all) await one.pass(60_000)
  expect(receiver.received).toHaveLength(30)
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(30)
  for (const { service } of all) await service.close()
})

it('keeps a slow receiver from holding up another, and follows another config at once', async () => {
  const fast = await startReceiver()
  const { service, say } = await open([webhookOf(), webhookOf({ name: 'fast', url: fast.url })])
  receiver.answer(() => {})
  for (let count = 0; count < 20; count++) await say('echo')
  await vi.waitFor(() => expect(fast.received).toHaveLength(20), 10_000)
  service.replace([webhookOf({ name: 'fast', url: fast.url })])
  await say('echo')
  await vi.waitFor(() => expect(fast.received).toHaveLength(21), 10_000)
  await service.close()
  await fast.close()
})
