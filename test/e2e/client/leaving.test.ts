import { execFile } from 'node:child_process'
import { getEventListeners } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import type { Client } from '../../../src/client/client.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { openCuttingProxy } from '../../support/client/cutting-proxy.ts'
import { clientBy, type Way, ways } from '../../support/client/ways.ts'
import { createProject } from '../../support/program.ts'
import { answer, openScriptedServer } from '../../support/scripted-server.ts'
import { startServer } from '../../support/server.ts'

/* A caller that leaves, at every stage of a call, leaves nothing behind. */

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Says a word, and waits for its end. */
const waits = agent({
  async *run({ signal }) {
    yield 'begun'
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  },
})

async function openServer(way: Way) {
  const server = await startServer({ sessionStorage: 'memory' }, { waits })
  const proxy = await openCuttingProxy(server.url)
  const client = clientBy(way, { url: proxy.url, server: server.server })
  closers.push(server.close, proxy.close, () => client.close())
  const statusOf = async (runId: string) => (await server.call('GET', `/api/v1/runs/${runId}`)).json.status
  return { client, proxy, statusOf, runs: async () => (await server.call('GET', '/api/v1/runs')).json.runs }
}

/** Timers and sockets of this process. */
const handles = () => process.getActiveResourcesInfo().filter((name) => /Timeout|TCPSocket/.test(name)).length

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'it went well',
    (error: unknown) => error,
  )
}

/** A call that reads to its end, and what there must be before it is left. */
const streams: [string, (client: Client, signal: AbortSignal) => Promise<AsyncIterable<{ type: string }>>][] = [
  ['a run', (client, signal) => client.agents.stream('waits', { input: 'x' }, { signal })],
  ['an A2A reply', (client, signal) => client.a2a.stream({ agentId: 'waits', content: 'x' }, { signal })],
]

describe.each(ways)('by %s', (way) => {
  test.each(streams)('aborting in the middle of %s ends it there and here', async (_, open) => {
    const { client, proxy, runs, statusOf } = await openServer(way)
    const controller = new AbortController()
    const stream = await open(client, controller.signal)
    const reading = (async () => {
      for await (const event of stream) if (/text_delta|content/.test(event.type)) controller.abort(new Error('enough'))
    })()
    expect(await rejection(reading)).toMatchObject({ message: 'enough' })
    const [{ run_id }] = await runs()
    await expect.poll(() => statusOf(run_id)).toBe('cancelled')
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    await client.close()
    // What fetch keeps for the next call is its own.
    if (way !== 'fetch') await expect.poll(() => proxy.open).toBe(0)
  })

  test('aborting a stream that nobody reads ends its run', async () => {
    const { client, statusOf } = await openServer(way)
    const controller = new AbortController()
    const stream = await client.agents.stream('waits', { input: 'x' }, { signal: controller.signal })
    controller.abort()
    await expect.poll(() => statusOf(stream.runId)).toBe('cancelled')
  })

  test('aborting before the run has said its id ends it all the same', async () => {
    const { client, runs, statusOf } = await openServer(way)
    const first = await client.agents.stream('waits', { input: 'x' })
    const controller = new AbortController()
    // It waits for its turn in the session, and its answer for that.
    const input = { input: 'x', session_id: first.sessionId }
    const second = rejection(client.agents.stream('waits', input, { signal: controller.signal }))
    await expect.poll(async () => (await runs()).length).toBe(2)
    controller.abort(new Error('enough'))
    expect(await second).toMatchObject({ message: 'enough' })
    const [waiting] = await runs()
    expect(await statusOf(waiting.run_id)).toBe('cancelled')
    expect(await statusOf(first.runId)).toBe('running')
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  test.each(streams)('leaving the loop over %s lets go of its connection', async (_, open) => {
    const { client, runs, statusOf } = await openServer(way)
    const controller = new AbortController()
    for await (const event of await open(client, controller.signal)) if (/text_delta|content/.test(event.type)) break
    const [{ run_id }] = await runs()
    await expect.poll(() => statusOf(run_id)).toBe('cancelled')
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  test('leaving a run that one follows leaves the run alone', async () => {
    const { client, proxy, statusOf } = await openServer(way)
    const { run_id } = await client.agents.background('waits', { input: 'x' })
    for await (const event of await client.runs.events(run_id)) if (event.type === 'text_delta') break
    expect(await statusOf(run_id)).toBe('running')
    await client.close()
    // What fetch keeps for the next call is its own.
    if (way !== 'fetch') await expect.poll(() => proxy.open).toBe(0)
  })
})

/** Takes connections, and never says a word. */
async function openSilence() {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => new Promise((resolve) => server.close(resolve)))
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}`, sockets }
}

const head = { 'content-type': 'text/event-stream', 'x-run-id': 'run_1' }
const busy = { error: { code: 'unavailable', message: 'busy' } }

describe.each(['undici', 'fetch'] as const)('by %s, from a server that does not help', (way) => {
  const calls: [string, (client: Client, signal: AbortSignal) => Promise<unknown>][] = [
    ['an answer', (client, signal) => client.agents.list(undefined, { signal })],
    ['a run', (client, signal) => client.agents.run('a', { input: 'x' }, { signal })],
    ['a stream', (client, signal) => client.runs.events('run_1', { signal })],
    ['an A2A stream', (client, signal) => client.a2a.stream({ agentId: 'a', content: 'x' }, { signal })],
  ]

  test.each(calls)('waiting for %s is left at once, without a handle', async (_, call) => {
    const before = handles()
    const { url, sockets } = await openSilence()
    const client = clientBy(way, { url })
    const controller = new AbortController()
    const pending = rejection(call(client, controller.signal))
    await expect.poll(() => sockets.size).toBe(1)
    controller.abort(new Error('enough'))
    expect(await pending).toMatchObject({ message: 'enough' })
    await expect.poll(() => sockets.size).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    await client.close()
    await expect.poll(handles).toBeLessThanOrEqual(before)
  })

  test('a call that is aborted already is not made', async () => {
    const server = await openScriptedServer((_request, response) => answer(response, 200, {}))
    const client = clientBy(way, server)
    closers.push(server.close, () => client.close())
    for (const [, call] of calls) {
      expect(await rejection(call(client, AbortSignal.abort(new Error('too late'))))).toMatchObject({
        message: 'too late',
      })
    }
    const signal = AbortSignal.abort(new Error('too late'))
    expect(await rejection(client.agents.stream('a', { input: 'x' }, { signal }))).toMatchObject({
      message: 'too late',
    })
    expect(server.seen).toEqual([])
  })

  test('waiting for a repeat, or for a stream to come back, is left at once', async () => {
    const before = handles()
    const controller = new AbortController()
    const server = await openScriptedServer((request, response) => {
      if (request.url.endsWith('/events')) {
        response.writeHead(200, head)
        return void response.write(': hb\n\n', () => response.destroy())
      }
      answer(response, 503, busy, { 'retry-after': '20' })
    })
    const client = clientBy(way, server)
    const waiting = rejection(client.agents.list(undefined, { signal: controller.signal }))
    const read = async () => {
      const options = { signal: controller.signal, reconnects: 99 }
      for await (const event of await client.runs.events('run_1', options))
        throw new Error(`There is no ${event.type}.`)
    }
    const reading = rejection(read())
    await expect.poll(() => server.seen.filter(({ url }) => url.endsWith('/events')).length).toBeGreaterThan(3)
    controller.abort(new Error('enough'))
    expect(await waiting).toMatchObject({ message: 'enough' })
    expect(await reading).toMatchObject({ message: 'enough' })
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    await client.close()
    await server.close()
    await expect.poll(handles).toBeLessThanOrEqual(before)
  })

  test('a client that is closed ends what is open, and makes no more calls', async () => {
    const { url, sockets } = await openSilence()
    const client = clientBy(way, { url })
    const pending = calls.map(([, call]) => rejection(call(client, new AbortController().signal)))
    await expect.poll(() => sockets.size).toBe(calls.length)
    await client.close()
    for (const error of await Promise.all(pending))
      expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('closed') })
    await expect.poll(() => sockets.size).toBe(0)
    await expect(client.health()).rejects.toMatchObject({ code: 'unavailable' })
  })
})

test('a thousand calls with one signal leave nothing on it', async () => {
  const server = await openScriptedServer((_request, response) => answer(response, 200, { agents: [], count: 0 }))
  const client = clientBy('undici', server)
  closers.push(server.close, () => client.close())
  const { signal } = new AbortController()
  for (let index = 0; index < 100; index++) {
    await Promise.all(Array.from({ length: 10 }, () => client.agents.list(undefined, { signal })))
  }
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a program that leaves a stream ends by itself, without close()', async () => {
  const server = await startServer({ sessionStorage: 'memory' }, { waits })
  const project = await createProject({
    'program.ts': `
      import { createClient } from 'agentserve/client'
      const client = createClient({ url: '${server.url}' })
      for await (const event of await client.agents.stream('waits', { input: 'x' })) if (event.type === 'text_delta') break
      console.log('left')
    `,
  })
  closers.push(server.close, project.remove)
  const program = promisify(execFile)(process.execPath, ['program.ts'], { cwd: project.folder, timeout: 20_000 })
  await expect(program).resolves.toMatchObject({ stdout: 'left\n' })
})
