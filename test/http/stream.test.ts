import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../src/core/error.ts'
import { encodeData, parseSse } from '../../src/core/sse.ts'
import { sse } from '../../src/http/reply.ts'
import { get, listening, openSocket, readAll, testKernel } from './support.ts'

const request = 'GET /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

/** A stream of large frames that tells how many were asked for and when it was left. */
function endless() {
  const returned = Promise.withResolvers<void>()
  const state = { pulled: 0, returned: returned.promise }
  async function* frames() {
    try {
      while (true) {
        state.pulled++
        yield encodeData('x'.repeat(16 * 1024))
      }
    } finally {
      returned.resolve()
    }
  }
  return { state, route: get('/events', () => sse(frames())) }
}

/** Yields once and then waits for good; `return()` is heard at once, as a hand-written iterator may. */
function silent() {
  const returned = Promise.withResolvers<void>()
  let first = true
  const frames: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        if (!first) return new Promise(() => {})
        first = false
        return Promise.resolve({ done: false, value: encodeData('first') })
      },
      return: async () => {
        returned.resolve()
        return { done: true, value: undefined }
      },
    }),
  }
  return { returned: returned.promise, route: get('/events', () => sse(frames, { 'X-Run-Id': 'run_1' })) }
}

describe('a stream of events', () => {
  test('has its headers and its frames as they were given', async () => {
    async function* frames() {
      yield encodeData({ a: 'x\n\ndata: forged' })
      yield encodeData(1) + encodeData(2)
    }
    const { url } = await listening([get('/events', () => sse(frames(), { 'X-Run-Id': 'run_1' }))])
    const response = await fetch(`${url}/events`)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-run-id': 'run_1',
      'x-content-type-options': 'nosniff',
    })
    if (response.body === null) throw new Error('no body')
    const values: unknown[] = []
    for await (const { data } of parseSse(response.body)) values.push(JSON.parse(data))
    expect(values).toEqual([{ a: 'x\n\ndata: forged' }, 1, 2])
  })

  test('that fails before its first frame is an error reply', async () => {
    async function* frames(found = false) {
      if (!found) throw new AppError('run_not_found', 'There is no such run.')
      yield encodeData(1)
    }
    const response = await testKernel([get('/events', () => sse(frames()))]).inject({ url: '/events' })
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'run_not_found' } }])
  })

  test('that fails later ends, and is logged', async () => {
    const logged: object[] = []
    const logger = { debug() {}, info() {}, warn() {}, error: (fields: object) => void logged.push(fields) }
    async function* frames() {
      yield encodeData(1)
      throw new Error('broken')
    }
    const { url } = await listening([get('/events', () => sse(frames()))], { logger })
    expect(await (await fetch(`${url}/events`)).text()).toBe('data: 1\n\n')
    expect(logged).toMatchObject([{ err: { message: 'broken' } }])
  })

  test('without any frame is an empty stream', async () => {
    const response = await testKernel([get('/events', () => sse((async function* () {})()))]).inject({ url: '/events' })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  test('is not started by HEAD', async () => {
    const { state, route } = endless()
    const response = await testKernel([route]).inject({ method: 'HEAD', url: '/events' })
    expect([response.headers['content-type'], await response.text(), state.pulled]).toEqual([
      'text/event-stream',
      '',
      0,
    ])
  })

  test('sends a comment after silence', async () => {
    const { route } = silent()
    const { port } = await listening([route], { heartbeatMs: 5 })
    const socket = openSocket(port)
    socket.write(request)
    let text = ''
    for await (const chunk of socket) {
      text += chunk
      if (text.split(': hb\n\n').length > 2) break
    }
    expect(text).toContain('data: "first"\n\n')
  })

  test('asks for no more than a stalled reader leaves room for, and goes on when it reads', async () => {
    const { state, route } = endless()
    const { port } = await listening([route])
    const socket = openSocket(port)
    socket.pause()
    socket.write(request)
    await settled(() => state.pulled)
    const stalledAt = state.pulled
    // The kernel's socket buffers hold a few megabytes; without backpressure this would grow without end.
    expect(stalledAt * 16).toBeLessThan(16 * 1024)
    socket.resume()
    while (state.pulled < stalledAt * 2) await once(socket, 'data')
    socket.destroy()
    await state.returned
  })

  test('is cut when its reader stalls too long, and its producer is told', async () => {
    const { state, route } = endless()
    const warned: string[] = []
    const logger = { debug() {}, info() {}, error() {}, warn: (_: object, message = '') => void warned.push(message) }
    const { port } = await listening([route], { stallTimeoutMs: 20, logger })
    const socket = openSocket(port)
    socket.pause()
    socket.write(request)
    await state.returned
    expect(warned).toEqual(['closed a stream because its reader stalled'])
    socket.on('error', () => {})
  })

  test('tells a waiting producer that the client has left, and aborts the signal', async () => {
    const { returned, route } = silent()
    const aborted = Promise.withResolvers<void>()
    const { port } = await listening([
      {
        ...route,
        handler: (received) => {
          received.signal.addEventListener('abort', () => aborted.resolve())
          return route.handler(received)
        },
      },
    ])
    const socket = openSocket(port)
    socket.write(request)
    await once(socket, 'data')
    socket.destroy()
    await Promise.all([returned, aborted.promise])
  })

  test('read through inject waits for its reader and is told when it leaves', async () => {
    const { state, route } = endless()
    const response = await testKernel([route]).inject({ url: '/events' })
    for await (const _ of response.body) break
    await state.returned
    expect(state.pulled).toBeLessThan(20)
  })

  test('is ended by its producer while the server closes', async () => {
    const stop = Promise.withResolvers<void>()
    async function* frames() {
      yield encodeData('first')
      await stop.promise
      yield encodeData('last')
    }
    const { kernel, port } = await listening([get('/events', () => sse(frames()))])
    const socket = openSocket(port)
    socket.write(request)
    await once(socket, 'readable')
    const closed = kernel.close({ deadlineMs: 10_000 })
    stop.resolve()
    expect(await readAll(socket)).toContain('data: "last"')
    await closed
  })

  test('is cut when the deadline of closing has passed', async () => {
    const { returned, route } = silent()
    const { kernel, port } = await listening([route])
    const socket = openSocket(port)
    socket.on('error', () => {}).write(request)
    await once(socket, 'data')
    await kernel.close({ deadlineMs: 10 })
    await returned
  })
})

/** When the number has stayed the same for some turns of the event loop. */
async function settled(read: () => number): Promise<void> {
  for (let same = 0, last = -1; same < 200; same++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (read() !== last) same = 0
    last = read()
  }
}
