import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Kernel } from '../../../src/http/kernel.ts'
import type { TrafficLimits } from '../../../src/http/options.ts'
import { json } from '../../../src/http/reply.ts'
import { type KernelOptions, usualTraffic } from '../../support/kernel.ts'
import { get, listening, openSocket, parseRaw, post, readAll } from '../support.ts'

const kilobyte = 1024
const limits = (some: Partial<TrafficLimits>): TrafficLimits => ({ ...usualTraffic, ...some })
const size = post('/size', async ({ body }) => json({ bytes: (await body.bytes()).length }))
const free = get('/free', () => json('free'))

/** Sends the head and a part of a body, and leaves the rest to `finish`. */
async function begin(port: number, bytes: number, sent: number, ...headers: string[]) {
  const socket = openSocket(port)
  await once(socket, 'connect')
  const head = [`POST /size HTTP/1.1`, 'Host: localhost', 'Connection: close', `Content-Length: ${bytes}`, ...headers]
  socket.write(`${head.join('\r\n')}\r\n\r\n${'x'.repeat(sent)}`)
  const answer = readAll(socket).then(parseRaw)
  answer.catch(() => {})
  return { socket, answer, finish: () => void socket.write('x'.repeat(bytes - sent)) }
}

const until = (holds: () => boolean | Promise<boolean>) =>
  expect.poll(holds, { timeout: 10_000, interval: 10 }).toBe(true)

/** How many bytes of what was written the other side has not taken. */
const unsent = (socket: Socket) => socket.writableLength

/** What the handlers below tell, and what they wait for, by the request's id. */
const held = new Map<string, { read: () => void; ended: Promise<void> }>()
const keeps = post('/keeps', async ({ body, requestId }) => {
  await body.text()
  held.get(requestId)?.read()
  await held.get(requestId)?.ended
  return json('done')
})
const letsGo = post('/lets-go', async ({ body, requestId }) => {
  await body.text()
  body.release?.()
  held.get(requestId)?.read()
  await held.get(requestId)?.ended
  return json('done')
})

function send(kernel: Kernel, url: string, id = 'any') {
  const body = Readable.from([Buffer.alloc(60_000)])
  return kernel.inject({ method: 'POST', url, headers: { 'x-request-id': id }, body })
}

function hold(kernel: Kernel, url: string) {
  const read = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  held.set(url, { read: read.resolve, ended: ended.promise })
  return { answer: send(kernel, url, url), isRead: read.promise, end: ended.resolve }
}

async function kernelWith(options: KernelOptions) {
  return listening([size, free], { bodyWaitMs: 200, ...options })
}

describe('bodies together', () => {
  test('wait for room, and are refused as unavailable when none comes', async () => {
    const { port } = await kernelWith({ limits: limits({ bodiesBytes: 100 * kilobyte }) })
    const held = await begin(port, 95 * kilobyte, 90 * kilobyte)
    const refused = await (await begin(port, 20 * kilobyte, 20 * kilobyte)).answer
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
    expect(JSON.parse(refused.body)).toMatchObject({ error: { code: 'unavailable' } })
    expect(refused.body).toContain('server.limits.bodies')
    held.finish()
    expect((await held.answer).status).toBe(200)
  })

  test('go on as soon as another request is done with its body', async () => {
    const { port } = await kernelWith({ bodyWaitMs: 20_000, limits: limits({ bodiesBytes: 100 * kilobyte }) })
    const held = await begin(port, 95 * kilobyte, 90 * kilobyte)
    await until(async () => (await begin(port, 1, 0)).socket.writable)
    const waiting = await begin(port, 20 * kilobyte, 20 * kilobyte)
    held.finish()
    expect([(await held.answer).status, (await waiting.answer).status]).toEqual([200, 200])
  })

  test('give back their room when their client leaves', async () => {
    const { port } = await kernelWith({ bodyWaitMs: 20_000, limits: limits({ bodiesBytes: 100 * kilobyte }) })
    const held = await begin(port, 95 * kilobyte, 90 * kilobyte)
    const waiting = await begin(port, 90 * kilobyte, 90 * kilobyte)
    held.socket.destroy()
    expect((await waiting.answer).status).toBe(200)
  })

  test('are not read further while they wait', async () => {
    const { port } = await kernelWith({ bodyWaitMs: 20_000, limits: limits({ bodiesBytes: 100 * kilobyte }) })
    const held = await begin(port, 95 * kilobyte, 90 * kilobyte)
    const megabytes = 8 * 1024 * kilobyte
    const waiting = await begin(port, megabytes, megabytes)
    await until(() => unsent(waiting.socket) > 0)
    const left = unsent(waiting.socket)
    for (let asked = 0; asked < 20; asked++) await (await fetch(`http://127.0.0.1:${port}/free`)).arrayBuffer()
    expect(unsent(waiting.socket)).toBeGreaterThan(left / 2)
    held.socket.destroy()
    waiting.socket.destroy()
  })

  test('that half fill the budget each all arrive, although none has room for its rest', async () => {
    const { port } = await kernelWith({ bodyWaitMs: 20_000, limits: limits({ bodiesBytes: 300 * kilobyte }) })
    const bodies = await Promise.all(Array.from({ length: 6 }, () => begin(port, 200 * kilobyte, 200 * kilobyte)))
    expect((await Promise.all(bodies.map(({ answer }) => answer))).map(({ status }) => status)).toEqual(
      Array(6).fill(200),
    )
  })

  test('never hold one that is larger than the whole budget', async () => {
    const { port } = await kernelWith({ limits: limits({ bodiesBytes: 100 * kilobyte }) })
    expect((await (await begin(port, 300 * kilobyte, 300 * kilobyte)).answer).status).toBe(503)
    expect((await (await begin(port, 90 * kilobyte, 90 * kilobyte)).answer).status).toBe(200)
  })

  test('of one key have a share, and leave room for those of another', async () => {
    const { port } = await kernelWith({
      authKeys: [{ key: 'a' }, { key: 'b' }],
      limits: limits({ bodiesBytes: 200 * kilobyte, bodiesPerKeyBytes: 100 * kilobyte }),
    })
    const held = await begin(port, 95 * kilobyte, 90 * kilobyte, 'X-API-Key: a')
    const same = await begin(port, 20 * kilobyte, 20 * kilobyte, 'X-API-Key: a')
    const other = await begin(port, 90 * kilobyte, 90 * kilobyte, 'X-API-Key: b')
    expect((await other.answer).status).toBe(200)
    const refused = await same.answer
    expect([refused.status, refused.body.includes('server.limits.bodiesPerKey')]).toEqual([503, true])
    held.finish()
    expect((await held.answer).status).toBe(200)
  })

  test('have no share of a key where there are no keys', async () => {
    const { port } = await kernelWith({ limits: limits({ bodiesPerKeyBytes: kilobyte }) })
    expect((await (await begin(port, 90 * kilobyte, 90 * kilobyte)).answer).status).toBe(200)
  })

  test('wait without being called slow', async () => {
    const { kernel } = await listening([keeps, size], {
      bodyWaitMs: 20_000,
      bodyTimeoutMs: 300,
      limits: limits({ bodiesBytes: 100 * kilobyte }),
    })
    const holder = hold(kernel, '/keeps')
    await holder.isRead
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const waiting = send(kernel, '/size')
    await vi.advanceTimersByTimeAsync(1_000)
    holder.end()
    expect([(await holder.answer).status, (await waiting).status]).toEqual([200, 200])
  })
})

describe('what a handler has read', () => {
  test('counts until it returns, or lets go of it', async () => {
    const { kernel } = await listening([keeps, letsGo, size], {
      bodyWaitMs: 100,
      limits: limits({ bodiesBytes: 100 * kilobyte }),
    })
    const first = hold(kernel, '/lets-go')
    await first.isRead
    expect((await send(kernel, '/size')).status).toBe(200)
    const second = hold(kernel, '/keeps')
    await second.isRead
    expect((await send(kernel, '/size')).status).toBe(503)
    first.end()
    second.end()
    expect([(await first.answer).status, (await second.answer).status]).toEqual([200, 200])
    expect((await send(kernel, '/size')).status).toBe(200)
  })
})
