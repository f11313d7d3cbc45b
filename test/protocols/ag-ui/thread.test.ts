import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { at, seedOf, startOf } from '../../contract/session-store/builders.ts'
import { runnable } from '../../support/services.ts'
import { eventsOf, input, openAgUi, user } from './support.ts'

test('who comes later gets the answer under way from its beginning, without what it has', async () => {
  const server = await openAgUi()
  await server.post('echo', input('t1', 'r0', [user('u0', 'hello')]))
  const first = await server.open('gated', input('t1', 'r1', [user('u1', 'go')]))
  await server.gate.begun(0)
  const second = await server.connect('gated', 't1', '?runId=again')
  server.gate.open(0)
  const whole = eventsOf(await first.text())
  const events = eventsOf(await second.text())
  expect(events[0]).toEqual({ type: 'RUN_STARTED', threadId: 't1', runId: 'again', protocolVersion: '1.0' })
  expect(events[2]?.messages.map(({ id }: { id: string }) => id)).toEqual(['u0', expect.any(String), 'u1'])
  expect(events.slice(3, -1)).toEqual(whole.slice(2, -1))
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', runId: 'again', outcome: { type: 'success' } })
})

test.each([
  ['ends', 'has its answer among the messages'],
  ['begins', 'is told to its end'],
])('a run that %s while a thread is read %s', async (what) => {
  const server = await openAgUi()
  const { sessions } = server.services
  await sessions.create({ session_id: 't1' })
  const begin = async () => {
    const stream = await server.open('gated', input('t1', 'r1', [user('u1', 'go')]))
    await server.gate.begun(0)
    return stream
  }
  const first = what === 'ends' ? await begin() : undefined
  const history = sessions.history.bind(sessions)
  let isFirst = true
  sessions.history = async (...given) => {
    if (!isFirst) return history(...given)
    isFirst = false
    if (first === undefined) await begin()
    server.gate.open(0)
    if (first !== undefined) await first.text()
    return history(...given)
  }
  const { events, messages } = await server.thread('gated', 't1')
  const said = events.filter(({ type }) => type === 'TEXT_MESSAGE_START').length
  const answers = messages.filter(({ role }) => role === 'assistant').length
  expect([said + answers, events.at(-1)?.type]).toEqual([1, 'RUN_FINISHED'])
})

test('a run that goes on after an answer is told from there', async () => {
  const waits = Promise.withResolvers<void>()
  const pay = tool({
    inputSchema: z.object({}),
    needsApproval: true,
    execute: async () => {
      await waits.promise
      return 'paid'
    },
  })
  const model = scriptedModel({ text: 'One moment. ', tool_calls: [{ name: 'pay', input: {} }] }, 'Done.')
  const server = await openAgUi({ cashier: agent({ tools: { pay }, model }) })
  const { events } = await server.post('cashier', input('t1', 'r1', [user('u1', 'pay')]))
  const resume = events
    .at(-1)
    ?.outcome.interrupts.map(({ id }: { id: string }) => ({ interruptId: id, status: 'resolved', payload: true }))
  const resumed = await server.open('cashier', input('t1', 'r2', [user('u1', 'pay')], { resume }))
  const connected = await server.connect('cashier', 't1')
  waits.resolve()
  const rest = eventsOf(await resumed.text())
  const seen = eventsOf(await connected.text())
  const snapshot = seen[2]?.messages.map(({ role, content }: { role: string; content: string }) => [role, content])
  expect(snapshot).toEqual([
    ['user', 'pay'],
    ['assistant', 'One moment. '],
  ])
  expect(seen.slice(3, -1)).toEqual(rest.slice(2, -1))
})

test('an answer whose process died is there with what was said, and the thread goes on', async () => {
  const server = await openAgUi()
  const start = startOf({
    run: { session_id: 't1', entity_id: 'echo', status: 'running' },
    session: seedOf({ session_id: 't1' }),
    owner: 'dead',
    text: 'hello',
  })
  await server.store.startRun(start)
  await server.store.recover('next', at(9))
  const { messages, end } = await server.thread('echo', 't1')
  expect(messages).toMatchObject([{ role: 'user', content: 'hello' }])
  expect(end).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  const next = await server.post('echo', input('t1', 'r2', [user('u2', 'again')]))
  expect(next.events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
})

test('only the latest turns are told, as many as are asked for', async () => {
  const server = await openAgUi()
  for (const n of [1, 2, 3]) await server.post('echo', input('t1', `r${n}`, [user(`u${n}`, `${n}`)]))
  const { messages } = await server.thread('echo', 't1', '?limit=2')
  expect(messages.filter(({ role }) => role === 'user').map(({ id }) => id)).toEqual(['u2', 'u3'])
  expect((await server.thread('echo', 't1', '?limit=0')).status).toBe(400)
})

test('a thread larger than a frame that clients take is told from its end', async () => {
  const large = runnable(async function* () {
    for (let n = 0; n < 40; n++) yield 'x'.repeat(100_000)
  })
  const server = await openAgUi({ large })
  for (const n of [1, 2, 3]) await server.post('large', input('t1', `r${n}`, [user(`u${n}`, `${n}`)]))
  const { messages } = await server.thread('large', 't1')
  expect(messages.filter(({ role }) => role === 'user').map(({ id }) => id)).toEqual(['u2', 'u3'])
})

test('a client that stops reading is sent no more meanwhile, and gets everything when it reads on', async () => {
  const piece = 'x'.repeat(2_000)
  const talkative = runnable(async function* () {
    for (let place = 0; place < 4_000; place++) yield `${place} ${piece}`
  })
  const server = await openAgUi({ talkative })
  const body = input('t1', 'r1', [user('u1', 'go')])
  const whole = await server.post('talkative', body)
  const reads = vi.spyOn(server.store, 'readEvents')
  const again = await server.open('talkative', body)
  const chunks = again.body[Symbol.asyncIterator]()
  const read: Uint8Array[] = []
  const next = await chunks.next()
  if (!next.done) read.push(next.value)
  const turns = async () => {
    for (let turn = 0; turn < 500; turn++) await new Promise((resolve) => setImmediate(resolve))
    return reads.mock.calls.length
  }
  const before = await turns()
  expect(await turns()).toBe(before)
  for await (const chunk of { [Symbol.asyncIterator]: () => chunks }) read.push(chunk)
  // Most of it is only read from the store when there is room for it.
  expect(before).toBeLessThan(reads.mock.calls.length / 4)
  expect(Buffer.concat(read).toString()).toBe(whole.text)
}, 30_000)
