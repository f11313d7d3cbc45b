import { createHash } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { json } from '../../../src/http/reply.ts'
import type { LineOptions } from '../../../src/http/request.ts'
import { type KernelOptions, usualTraffic } from '../../support/kernel.ts'
import { listening, openSocket, parseRaw, post, readAll, testKernel } from '../support.ts'

const route = (options: Partial<LineOptions> = {}, maxBodyBytes = 1024 * 1024) => ({
  ...post('/lines', async ({ body }) => {
    const lines: string[] = []
    for await (const line of body.lines({ maxLineBytes: 1_000, ...options })) lines.push(line)
    return json(lines)
  }),
  maxBodyBytes,
})

async function send(body: string | Uint8Array | Readable, options: Partial<LineOptions> = {}, type = 'text/plain') {
  const kernel = testKernel([route(options)])
  const response = await kernel.inject({ method: 'POST', url: '/lines', headers: { 'content-type': type }, body })
  return { status: response.status, body: (await response.json()) as unknown }
}

describe('a body read line by line', () => {
  test.each([
    ['a\nb\n', ['a', 'b']],
    ['a\nb', ['a', 'b']],
    ['\n\na\n', ['', '', 'a']],
    ['a\r\nb', ['a\r', 'b']],
    ['\ufeffa\nb', ['a', 'b']],
  ])('%j gives %j', async (body, lines) => {
    expect(await send(body)).toEqual({ status: 200, body: lines })
  })

  test('is the same in pieces that cut lines and characters', async () => {
    const bytes = Buffer.from('€€\n€\nend')
    const pieces = Readable.from([...bytes].map((byte) => Buffer.from([byte])))
    expect(await send(pieces)).toEqual({ status: 200, body: ['€€', '€', 'end'] })
  })

  test('is read in its charset', async () => {
    const utf16 = await send(Buffer.from('é\nb', 'utf16le'), {}, 'text/plain; charset=utf-16le')
    expect(utf16).toEqual({ status: 200, body: ['é', 'b'] })
    expect((await send('a', {}, 'text/plain; charset=klingon')).status).toBe(415)
    expect((await send(Buffer.from([0x61, 0x0a, 0xff]))).status).toBe(400)
  })

  test('is refused when a line or the whole is too large', async () => {
    expect((await send(`a\n${'x'.repeat(1_000)}\n`)).status).toBe(200)
    const line = await send(`a\n${'x'.repeat(1_001)}\n`)
    expect([line.status, JSON.stringify(line.body)]).toEqual([413, expect.stringContaining('Line 2')])
    const whole = Readable.from(Array.from({ length: 1_100 }, () => Buffer.from(`${'x'.repeat(999)}\n`)))
    expect((await send(whole)).status).toBe(413)
  })

  test('shows all its bytes, for a digest', async () => {
    const hash = createHash('sha256')
    await send('a\nb\n', { onBytes: (piece) => void hash.update(piece) })
    expect(hash.digest('hex')).toBe(createHash('sha256').update('a\nb\n').digest('hex'))
  })

  test('is gone when its client has left', async () => {
    let failed: (error: unknown) => void = () => {}
    const failure = new Promise((resolve) => {
      failed = resolve
    })
    const { port } = await listening([
      post('/lines', async ({ body }) => {
        try {
          for await (const _ of body.lines({ maxLineBytes: 100 }));
        } catch (error) {
          failed(error)
        }
        return json('done')
      }),
    ])
    const socket = openSocket(port)
    socket.write('POST /lines HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\na\nb', () => socket.destroy())
    expect(await failure).toMatchObject({ code: 'invalid_request' })
  })
})

describe('the reader of lines', () => {
  const lineBytes = 50_000
  const listenWith = (handler: Parameters<typeof post>[1], options: KernelOptions = {}) =>
    listening([{ ...post('/lines', handler), maxBodyBytes: 1024 ** 3 }], options)

  test('takes no more from the connection than is asked for', async () => {
    let taken = 0
    let goOn = () => {}
    const stopped = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const { port } = await listenWith(async ({ body }) => {
      for await (const line of body.lines({ maxLineBytes: lineBytes })) {
        taken += line.length
        if (taken === lineBytes) await stopped
      }
      return json({ taken })
    })
    const lines = 1_000
    const socket = openSocket(port)
    const total = lines * (lineBytes + 1)
    socket.write(`POST /lines HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${total}\r\n\r\n`)
    const whole = `${'x'.repeat(lineBytes)}\n`.repeat(lines)
    socket.write(whole)
    const answer = readAll(socket)
    await expect.poll(() => taken, { timeout: 10_000, interval: 5 }).toBeGreaterThan(0)
    expect(socket.writableLength).toBeGreaterThan(total / 2)
    goOn()
    expect(JSON.parse(parseRaw(await answer).body)).toEqual({ taken: lines * lineBytes })
  })

  test('goes on beyond the request timeout as long as bytes come, and ends at it when none do', async () => {
    const { kernel } = await listenWith(
      async ({ body }) => {
        let count = 0
        for await (const _ of body.lines({ maxLineBytes: 100 })) count++
        return json({ count })
      },
      { requestTimeoutMs: 400, bodyTimeoutMs: 5_000 },
    )
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    /** Sends a line each time that so much time has passed. */
    const send = async (ms: number) => {
      const body = new PassThrough()
      const answer = kernel.inject({ method: 'POST', url: '/lines', body })
      for (let line = 0; line < 8; line++) {
        await vi.advanceTimersByTimeAsync(ms)
        body.write('x\n')
      }
      body.end()
      return answer
    }
    const steady = await send(100)
    expect([steady.status, await steady.json()]).toEqual([200, { count: 8 }])
    expect((await send(2_000)).status).toBe(504)
  })

  test('counts a line among all bodies until the next is asked for', async () => {
    const handler: Parameters<typeof post>[1] = async ({ body }) => {
      let count = 0
      for await (const _ of body.lines({ maxLineBytes: 200_000 })) count++
      return json({ count })
    }
    const options = {
      bodyWaitMs: 100,
      limits: { ...usualTraffic, bodiesBytes: 100_000 },
    }
    const { kernel } = await listenWith(handler, options)
    const ask = (bytes: number) => {
      const body = Readable.from(Array.from({ length: 20 }, () => `${'x'.repeat(bytes)}\n`))
      return kernel.inject({ method: 'POST', url: '/lines', body })
    }
    expect((await ask(90_000)).status).toBe(200)
    expect((await ask(110_000)).status).toBe(503)
    expect((await ask(90_000)).status).toBe(200)
  })
})
