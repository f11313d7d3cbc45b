import { expect, test } from 'vitest'
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
