import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { TrafficLimits } from '../../src/http/options.ts'
import { json, sse } from '../../src/http/reply.ts'
import { usualTraffic } from '../support/kernel.ts'
import { get, listening, openSocket, readAll, testKernel } from './support.ts'

const limits = (some: Partial<TrafficLimits>): TrafficLimits => ({ ...usualTraffic, ...some })
const rate = (headers: Record<string, string>) => [
  headers['ratelimit-limit'],
  headers['ratelimit-remaining'],
  headers['ratelimit-reset'],
]

describe('requests a minute', () => {
  test('are counted down, refused beyond, and come back with time', async () => {
    let now = 0
    const kernel = testKernel([get('/x')], { limits: limits({ requestsPerMinute: 3 }), clock: () => now })
    const ask = () => kernel.inject({ url: '/x' })
    expect(rate((await ask()).headers)).toEqual(['3', '2', '20'])
    expect(rate((await ask()).headers)).toEqual(['3', '1', '40'])
    expect((await ask()).status).toBe(200)
    const refused = await ask()
    expect(refused.status).toBe(429)
    expect(refused.headers['retry-after']).toBe('20')
    expect(rate(refused.headers)).toEqual(['3', '0', '60'])
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited' } })
    now = 19_999
    expect((await ask()).status).toBe(429)
    now = 20_000
    expect((await ask()).status).toBe(200)
    expect((await ask()).status).toBe(429)
    now = 200_000
    expect(rate((await ask()).headers)).toEqual(['3', '2', '20'])
  })

  test('are those of one key, and neither of those without one nor of open routes', async () => {
    const kernel = testKernel([get('/x'), { ...get('/open'), scope: 'open' }], {
      limits: limits({ requestsPerMinute: 1 }),
      authKeys: [{ key: 'a' }, { key: 'b' }],
      clock: () => 0,
    })
    const ask = async (key: string, url = '/x') =>
      (await kernel.inject({ url, headers: key === '' ? {} : { 'x-api-key': key } })).status
    expect([await ask('a'), await ask('a'), await ask('b'), await ask('wrong'), await ask('')]).toEqual([
      200, 429, 200, 401, 401,
    ])
    expect([await ask('a', '/open'), await ask('a', '/open')]).toEqual([200, 200])
  })
})

describe('requests at once', () => {
  test('are refused beyond the limit, until one has ended', async () => {
    const waiting: (() => void)[] = []
    const slow = get('/slow', () => new Promise((resolve) => waiting.push(() => resolve(json('done')))))
    const kernel = testKernel([slow, { ...get('/open'), scope: 'open' }], { limits: limits({ requests: 2 }) })
    const first = kernel.inject({ url: '/slow' })
    const second = kernel.inject({ url: '/slow' })
    const third = await kernel.inject({ url: '/slow' })
    expect([third.status, third.headers['retry-after']]).toEqual([503, '1'])
    expect(await third.json()).toMatchObject({ error: { code: 'unavailable' } })
    expect((await kernel.inject({ url: '/open' })).status).toBe(200)
    waiting.shift()?.()
    expect((await first).status).toBe(200)
    const fourth = kernel.inject({ url: '/slow' })
    while (waiting.length > 0) waiting.shift()?.()
    expect([(await second).status, (await fourth).status]).toEqual([200, 200])
  })

  test('do not count streams that have begun', async () => {
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const stream = get('/stream', () =>
      sse(
        (async function* () {
          yield 'data: 1\n\n'
          await ended
        })(),
      ),
    )
    const kernel = testKernel([stream, get('/x')], { limits: limits({ requests: 1 }) })
    const streams = [await kernel.inject({ url: '/stream' }), await kernel.inject({ url: '/stream' })]
    expect(streams.map(({ status }) => status)).toEqual([200, 200])
    expect((await kernel.inject({ url: '/x' })).status).toBe(200)
    end()
    for (const each of streams) await each.text()
  })
})

test('a connection beyond the limit is closed, and the others are served', async () => {
  const { url, port } = await listening([get('/x')], { limits: limits({ connections: 2 }) })
  const held = [openSocket(port), openSocket(port)]
  await Promise.all(held.map((socket) => once(socket, 'connect')))
  expect(await readAll(openSocket(port))).toBe('')
  held[0]?.write('GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [answer] = (await once(held[0] as NonNullable<(typeof held)[0]>, 'data')) as [Buffer]
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
  for (const socket of held) socket.destroy()
  await Promise.all(held.map((socket) => once(socket, 'close')))
  await expect.poll(async () => (await fetch(`${url}/x`).catch(() => undefined))?.status).toBe(200)
})
