import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { json } from '../../../src/http/reply.ts'
import { echo, get, listening, openSocket, parseRaw, post, readAll, sendRaw, testKernel } from '../support.ts'

const text = post('/text', async ({ body }) => json({ text: await body.text(), type: body.mediaType ?? null }))
const head = (path: string, ...fields: string[]) =>
  [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...fields, '', ''].join('\r\n')

describe('a body', () => {
  test.each([
    ['application/json', '{"a":1}', { a: 1 }],
    ['Application/JSON; charset=UTF-8', '{"a":"é"}', { a: 'é' }],
    ['application/problem+json', '[1]', [1]],
    ['application/json', '\ufeff1', 1],
    ['', '2', 2],
    ['application/json', '', null],
  ])('of type %j is read as JSON', async (type, body, value) => {
    const response = await testKernel([echo]).inject({
      method: 'POST',
      url: '/echo',
      headers: { 'content-type': type },
      body,
    })
    expect([response.status, await response.json()]).toEqual([200, { value }])
  })

  test('that is not there is undefined, whatever its type is said to be', async () => {
    const response = await testKernel([echo]).inject({
      method: 'POST',
      url: '/echo',
      headers: { 'content-type': 'text/plain' },
    })
    expect([response.status, await response.json()]).toEqual([200, { value: null }])
  })

  test.each([
    ['application/json', '{"a"', 400],
    ['text/plain', '{}', 415],
    ['multipart/form-data; boundary=x', '{}', 415],
    ['application/json; charset=klingon', '{}', 415],
    ['application/json', gzipSync('{}'), 400],
    ['application/json', Buffer.from([0x22, 0xff, 0x22]), 400],
    ['application/json', '{"__proto__":{}}', 400],
  ])('of type %s that is wrong gets its status', async (type, body, status) => {
    const response = await testKernel([echo]).inject({
      method: 'POST',
      url: '/echo',
      headers: { 'content-type': type },
      body,
    })
    expect(response.status).toBe(status)
  })

  test.each([
    ['text/plain; charset=iso-8859-1', Buffer.from('caf\xe9', 'latin1')],
    ['text/plain;charset="UTF-16LE"', Buffer.from('café', 'utf16le')],
    ['text/plain', Buffer.from('café')],
    ['TEXT/PLAIN; format=flowed; charset=utf8', Buffer.from('café')],
  ])('is decoded by its charset: %s', async (type, body) => {
    const response = await testKernel([text]).inject({
      method: 'POST',
      url: '/text',
      headers: { 'content-type': type },
      body,
    })
    expect(await response.json()).toEqual({ text: 'café', type: 'text/plain' })
  })

  test('may come in pieces that cut characters', async () => {
    const bytes = Buffer.from('"€€€"')
    const body = Readable.from([...bytes].map((byte) => Buffer.from([byte])))
    const response = await testKernel([echo]).inject({ method: 'POST', url: '/echo', body })
    expect(await response.json()).toEqual({ value: '€€€' })
  })
})

describe('the size of a body', () => {
  test('may be the limit and not one byte more, sent whole or in chunks', async () => {
    const kernel = testKernel([text], { maxRequestBytes: 10 })
    for (const [length, status] of [
      [10, 200],
      [11, 413],
    ] as const) {
      const content = 'x'.repeat(length)
      for (const body of [content, Readable.from([content.slice(0, 5), content.slice(5)])]) {
        expect((await kernel.inject({ method: 'POST', url: '/text', body })).status).toBe(status)
      }
    }
  })

  test('may be set by the route', async () => {
    const kernel = testKernel([{ ...text, maxBodyBytes: 3 }])
    expect((await kernel.inject({ method: 'POST', url: '/text', body: 'abcd' })).status).toBe(413)
  })

  test('is told as it is configured, with the setting that raises it', async () => {
    const body = 'x'.repeat(2_000)
    for (const [route, advice] of [
      [text, 'Send less, or raise `server.maxRequestSize`.'],
      [{ ...text, maxBodyBytes: 1024 }, 'Send less.'],
    ] as const) {
      const kernel = testKernel([route], { maxRequestBytes: 1024 })
      for (const sent of [body, Readable.from([body])]) {
        const response = await kernel.inject({ method: 'POST', url: '/text', body: sent })
        expect(await response.json()).toMatchObject({ error: { message: `The body is larger than 1 KB. ${advice}` } })
      }
    }
  })

  test('is refused before the handler runs when Content-Length tells it', async () => {
    let ran = false
    const route = post('/x', () => {
      ran = true
      return json(1)
    })
    const { port } = await listening([route], { maxRequestBytes: 10 })
    const answer = parseRaw(await sendRaw(port, head('/x', 'Content-Length: 1000000'), 'x'.repeat(100)))
    expect([answer.status, answer.headers.connection, ran]).toEqual([413, 'close', false])
  })

  test('is counted while it is read when it comes in chunks without end', async () => {
    const { port } = await listening([text], { maxRequestBytes: 100_000 })
    const socket = openSocket(port)
    socket.write(head('/text', 'Transfer-Encoding: chunked'))
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`
    let sent = 0
    const send = () => {
      while (sent < 10_000 && !socket.writableEnded && !socket.destroyed) {
        sent++
        if (!socket.write(chunk)) return
      }
    }
    socket.on('drain', send).on('error', () => {})
    send()
    const [answer] = await socket.take(1).toArray()
    expect(parseRaw(String(answer)).status).toBe(413)
    expect(sent).toBeLessThan(10_000)
  })

  test('that is less than Content-Length said is never a whole body', async () => {
    const finished = Promise.withResolvers<unknown>()
    const route = post('/x', async ({ body }) => {
      await body.bytes().then(finished.resolve, finished.reject)
      return json(1)
    })
    const { port } = await listening([route])
    const socket = openSocket(port)
    socket.end(`${head('/x', 'Content-Length: 10')}abc`)
    await expect(finished.promise).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test('beyond Content-Length is not part of the body', async () => {
    const { port } = await listening([text])
    const answer = await sendRaw(port, `${head('/text', 'Content-Length: 3')}abcdef`)
    expect(answer).toContain('{"text":"abc"')
  })

  test('that is refused is taken in for a while, so that a client that sends first reads the answer', async () => {
    const { port } = await listening([text], { maxRequestBytes: 1000 })
    const socket = openSocket(port)
    socket.pause()
    socket.write(head('/text', 'Content-Length: 8000000'))
    await new Promise<void>((resolve, reject) => {
      socket.write('x'.repeat(8_000_000), (error) => (error ? reject(error) : resolve()))
    })
    expect(parseRaw(await readAll(socket)).status).toBe(413)
  })

  test('that is refused does not cost the client the answer', async () => {
    const { url } = await listening([text], { maxRequestBytes: 1000 })
    for (const size of [2_000, 300_000, 3_000_000]) {
      const response = await fetch(`${url}/text`, { method: 'POST', body: 'x'.repeat(size) })
      expect([response.status, await response.json()]).toMatchObject([413, { error: { code: 'payload_too_large' } }])
    }
  })
})

describe('a client', () => {
  test('too slow to send its body gets 408', async () => {
    const { port } = await listening([text], { bodyTimeoutMs: 30 })
    const answer = parseRaw(await sendRaw(port, head('/text', 'Content-Length: 10'), 'abc'))
    expect([answer.status, answer.headers.connection]).toEqual([408, 'close'])
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'request_timeout' } })
  })

  test('too slow to send its body is answered and closed, though it would have kept its connection', async () => {
    const { port } = await listening([text], { bodyTimeoutMs: 30 })
    const answer = parseRaw(
      await sendRaw(port, 'POST /text HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n', 'abc'),
    )
    expect([answer.status, answer.headers.connection]).toEqual([408, 'close'])
  })

  test('too slow to send its headers gets 408', async () => {
    const { port } = await listening([text], {
      headersTimeoutMs: 20,
      bodyTimeoutMs: 20,
      connectionsCheckingIntervalMs: 10,
    })
    const answer = parseRaw(await sendRaw(port, 'GET /x HTTP/1.1\r\nHost:'))
    expect(answer.status).toBe(408)
    expect(JSON.parse(answer.body)).toMatchObject({ request_id: answer.headers['x-request-id'] })
  })

  test('that waits for 100 Continue gets it only when the body is wanted', async () => {
    const { port } = await listening([text], { maxRequestBytes: 10 })
    const socket = openSocket(port)
    socket.write(head('/text', 'Content-Length: 3', 'Expect: 100-continue'))
    await new Promise<void>((resolve) =>
      socket.once('data', (chunk) => resolve(expect(String(chunk)).toContain('100 Continue'))),
    )
    socket.write('abc')
    expect(await readAll(socket)).toContain('{"text":"abc"')
    const refused = await sendRaw(port, head('/text', 'Content-Length: 11', 'Expect: 100-continue'))
    expect(parseRaw(refused).status).toBe(413)
  })
})

describe('what is no HTTP', () => {
  test.each([
    ['a line that is none', 'HELLO\r\n\r\n', 400],
    ['a broken header', 'GET / HTTP/1.1\r\nHost: localhost\r\nbad header: x\r\n\r\n', 400],
    ['both lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    ['headers that are too large', `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a broken chunk', `${head('/text', 'Transfer-Encoding: chunked')}zz\r\n`, 400],
  ])('gets the one error body: %s', async (_name, bytes, status) => {
    const { port } = await listening([text])
    const answer = parseRaw(await sendRaw(port, bytes))
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.body)).toMatchObject({ request_id: answer.headers['x-request-id'] })
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
  })

  test('gets 431 from the 101st header on', async () => {
    const { port } = await listening([get('/x')])
    const statusWith = async (count: number) => {
      const fields = Array.from({ length: count - 2 }, (_, index) => `X-${index}: 1`)
      return parseRaw(
        await sendRaw(
          port,
          `GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${fields.join('\r\n')}\r\n\r\n`,
        ),
      ).status
    }
    expect(await statusWith(100)).toBe(200)
    expect(await statusWith(101)).toBe(431)
    expect(await statusWith(500)).toBe(431)
  })
})
