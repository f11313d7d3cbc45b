import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { silentLogger } from '../../../../src/core/logger.ts'
import type { Runnable } from '../../../../src/core/runnable.ts'
import { Leaving } from '../../../../src/protocols/leaving.ts'
import { completionRoutes } from '../../../../src/protocols/openai/completions/completions.ts'
import { createBookmarks } from '../../../../src/service/bookmarks.ts'
import { createRegistry } from '../../../../src/service/registry.ts'
import { TestInstances } from '../../../support/instances.ts'
import { createKernel } from '../../../support/kernel.ts'
import { gate, runnable } from '../../../support/services.ts'
import { chunksOf, openCompletions, user } from './support.ts'

const attempt = (count: number) => ({ 'x-stainless-retry-count': String(count) })
const textOf = (stream: string) =>
  chunksOf(stream)
    .map(({ choices }) => choices?.[0]?.delta.content ?? '')
    .join('')

describe('a client whose connection broke and who sends again', () => {
  test.each([true, false])('joins the run while it works; stream: %s', async (stream) => {
    const server = await openCompletions()
    const body = { model: 'gated', messages: [user('x')], stream }
    const controller = new AbortController()
    const first = server.open(body, attempt(0), controller.signal).catch(() => undefined)
    await server.gate.begun(0)
    if (stream) await first
    controller.abort()
    await expect.poll(() => server.timers.size).toBe(1)
    const again = server.open(body, attempt(1))
    await expect.poll(() => server.timers.size).toBe(0)
    server.timers.advance(10_000)
    server.gate.open(0)
    const answer = await again
    const text = await answer.text()
    expect(stream ? textOf(text) : JSON.parse(text).choices[0].message.content).toBe('ab')
    const { runs } = await server.get('/runs')
    expect(runs.map(({ run_id, status }: { run_id: string; status: string }) => [run_id, status])).toEqual([
      [answer.headers['x-run-id'], 'completed'],
    ])
  })

  test('gets the answer of a run that has completed', async () => {
    const server = await openCompletions()
    const body = { model: 'echo', messages: [user('hello there')], user: 'ann' }
    const first = await server.complete(body, attempt(0))
    expect((await server.complete(body, attempt(1))).body).toEqual(first.body)
    const next = await server.complete(body, attempt(0))
    expect(next.body.id).not.toBe(first.body.id)
  })

  test('finds the session again in which the run goes on', async () => {
    const server = await openCompletions()
    const say = (...messages: object[]) => ({ model: 'gated', messages, user: 'ann' })
    const hello = [user('hello'), { role: 'assistant', content: 'ab' }]
    const answered = async (place: number, asked: ReturnType<typeof server.open>) => {
      await server.gate.begun(place)
      server.gate.open(place)
      return (await asked).headers['x-session-id']
    }
    const session = await answered(0, server.open(say(user('hello')), attempt(0)))
    const controller = new AbortController()
    server.open(say(...hello, user('x')), attempt(0), controller.signal).catch(() => undefined)
    await server.gate.begun(1)
    controller.abort()
    expect(await answered(1, server.open(say(...hello, user('x')), attempt(1)))).toBe(session)
    const more = [...hello, user('x'), { role: 'assistant', content: 'ab' }, user('y')]
    expect(await answered(2, server.open(say(...more), attempt(0)))).toBe(session)
  })

  test('starts anew when the run was cancelled, because it came too late', async () => {
    const server = await openCompletions()
    const body = { model: 'gated', messages: [user('x')] }
    const controller = new AbortController()
    server.open(body, attempt(0), controller.signal).catch(() => undefined)
    const { runId } = await server.gate.begun(0)
    controller.abort()
    await expect.poll(() => server.timers.size).toBe(1)
    server.timers.advance(2000)
    server.gate.open(0)
    await expect.poll(async () => (await server.get(`/runs/${runId}`)).status).toBe('cancelled')
    const again = server.open(body, attempt(1))
    await server.gate.begun(1)
    server.gate.open(1)
    expect((await again).headers['x-run-id']).not.toBe(runId)
  })

  test('is another one with another end user, session or key', async () => {
    const server = await openCompletions()
    const body = { model: 'echo', messages: [user('x')] }
    const first = await server.complete(body, attempt(0))
    const others = [
      await server.complete({ ...body, user: 'ann' }, attempt(1)),
      await server.complete(body, { ...attempt(1), 'x-openwebui-user-id': 'ann' }),
      await server.complete(body, { ...attempt(1), 'x-session-id': 'mine' }),
    ]
    const ids = [first, ...others].map(({ body: { id } }) => id)
    expect(new Set(ids).size).toBe(4)
  })
})

describe('a client that leaves', () => {
  test.each([true, false])('cancels the run after 2 s; stream: %s', async (stream) => {
    const server = await openCompletions()
    const controller = new AbortController()
    const body = { model: 'gated', messages: [user('x')], stream }
    const left = server.open(body, {}, controller.signal).catch(() => undefined)
    const { runId, signal } = await server.gate.begun(0)
    if (stream) await left
    controller.abort()
    await expect.poll(() => server.timers.size).toBe(1)
    server.timers.advance(1999)
    expect(signal.aborted).toBe(false)
    server.timers.advance(1)
    await expect.poll(() => signal.aborted).toBe(true)
    server.gate.open(0)
    await expect
      .poll(async () => {
        const { status, cancellation_reason } = await server.get(`/runs/${runId}`)
        return [status, cancellation_reason]
      })
      .toEqual(['cancelled', 'client_disconnected'])
    expect([server.timers.size, server.openai.leaving.size]).toEqual([0, 0])
  })

  test('leaves the run alone with X-On-Disconnect: continue', async () => {
    const server = await openCompletions()
    const controller = new AbortController()
    const body = { model: 'gated', messages: [user('x')], stream: true }
    await server.open(body, { 'x-on-disconnect': 'continue' }, controller.signal)
    const { runId, signal } = await server.gate.begun(0)
    controller.abort()
    server.timers.advance(10_000)
    server.gate.open(0)
    await expect.poll(async () => (await server.get(`/runs/${runId}`)).status).toBe('completed')
    expect([signal.aborted, server.timers.size]).toEqual([false, 0])
    const { status, body: refusal } = await server.complete(body, { 'x-on-disconnect': 'maybe' })
    expect([status, refusal.error.param]).toEqual([400, 'X-On-Disconnect'])
  })

  test('does not keep the server from closing', async () => {
    const server = await openCompletions()
    const controller = new AbortController()
    await server.open({ model: 'gated', messages: [user('x')], stream: true }, {}, controller.signal)
    await server.gate.begun(0)
    controller.abort()
    await expect.poll(() => server.timers.size).toBe(1)
    const closed = server.close()
    server.gate.open(0)
    await closed
    await expect.poll(() => server.timers.size).toBe(0)
  })
})

test('a failing agent is run once by a client that sends errors again', async () => {
  const run = vi.fn()
  const failing = runnable(async function* () {
    run()
    yield 'so far'
    throw new Error('no luck')
  })
  const server = await openCompletions({ failing })
  // As the clients of OpenAI decide.
  for (let count = 0; count < 3; count++) {
    const { status, headers } = await server.complete({ model: 'failing', messages: [user('x')] }, attempt(count))
    if (headers['x-should-retry'] === 'false') break
    if (status < 500 && ![408, 409, 429].includes(status)) break
  }
  expect(run).toHaveBeenCalledTimes(1)
})

describe('several servers', () => {
  async function open(entities: Record<string, Runnable>) {
    const world = new TestInstances()
    onTestFinished(() => world.close())
    const pair = await world.pair(entities)
    const servers = pair.map(({ store, runs, sessions, timers }) => {
      const registry = createRegistry()
      for (const [id, entity] of Object.entries(entities)) registry.register(id, entity)
      const services = { registry, runs, sessions, bookmarks: createBookmarks(store, Date.now), logger: silentLogger }
      const kernel = createKernel()
      const leaving = new Leaving(timers)
      const more = {
        prefix: '/v1',
        startedAtMs: 0,
        sessionFromUser: false,
        showTools: false,
        maxFiles: 1,
        fileBytes: 1000,
      }
      kernel.setRoutes(completionRoutes({ ...more, services: () => services, leaving, timeoutMs: 600_000 }))
      const ask = (body: object, headers: Record<string, string>, signal?: AbortSignal) =>
        kernel.inject({
          method: 'POST',
          url: '/v1/chat/completions',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
          ...(signal && { signal }),
        })
      return { ask, leaving, store }
    })
    return { world, servers: servers as [(typeof servers)[0], (typeof servers)[0]] }
  }

  test('a client that comes again to another one joins the run, and cancels it when it leaves too', async () => {
    const gated = gate()
    const { world, servers } = await open({ gated: gated.runnable })
    const [one, other] = servers
    const body = { model: 'gated', messages: [user('x')], stream: true }
    const [first, second] = [new AbortController(), new AbortController()]
    await world.until(one.ask(body, attempt(0), first.signal))
    const { runId, signal } = await gated.begun(0)
    first.abort()
    const again = await world.until(other.ask(body, attempt(1), second.signal))
    expect(again.headers['x-run-id']).toBe(runId)
    await world.advance(5_000)
    expect([signal.aborted, one.leaving.size, other.leaving.size]).toEqual([false, 0, 1])
    second.abort()
    await world.advance(1_900)
    expect(signal.aborted).toBe(false)
    await world.advance(2_000)
    expect(signal.aborted).toBe(true)
    gated.open(0)
    await world.advance(1_000)
    expect(await one.store.findRun(runId)).toMatchObject({
      status: 'cancelled',
      cancellation_reason: 'client_disconnected',
    })
  })

  test('a conversation goes on in its session on another one', async () => {
    const { world, servers } = await open({
      echo: runnable(async function* ({ text }) {
        yield text
      }),
    })
    const [one, other] = servers
    const messages = [user('hello')]
    const first = await world.until(one.ask({ model: 'echo', messages, user: 'ann' }, {}))
    const more = [...messages, { role: 'assistant', content: 'hello' }, user('next')]
    const next = await world.until(other.ask({ model: 'echo', messages: more, user: 'ann' }, {}))
    expect(next.headers['x-session-id']).toBe(first.headers['x-session-id'])
  })
})
