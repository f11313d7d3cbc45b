import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { text } from '../../src/http/reply.ts'
import { echo, get, listening, openSocket, parseRaw, readAll } from './support.ts'

/** All that comes back until the server closes the connection. */
async function send(port: number, bytes: string, end: boolean) {
  const socket = openSocket(port)
  if (end) socket.end(bytes)
  else socket.write(bytes)
  return parseRaw(await readAll(socket))
}

const patient = { headersTimeoutMs: 3_600_000, bodyTimeoutMs: 3_600_000 }

test('a client that ends in the middle of its body is answered, and the connection closed at once', async () => {
  const { port } = await listening([echo], patient)
  const head = 'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n'
  const { status, headers, body } = await send(port, `${head}{"a":`, true)
  expect(status).toBe(400)
  expect(headers.connection).toBe('close')
  expect(JSON.parse(body)).toMatchObject({ error: { code: 'invalid_request' }, request_id: headers['x-request-id'] })
})

test('an answer to a HEAD that can not be parsed has no body', async () => {
  const { port } = await listening([get('/x')])
  const { status, headers, body } = await send(port, `HEAD /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, false)
  expect([status, body]).toEqual([431, ''])
  expect(Number(headers['content-length'])).toBeGreaterThan(0)
})

test('requests before a broken one on its connection are answered, the last with `Connection: close`', async () => {
  const gate = Promise.withResolvers<void>()
  const slow = get('/slow', async () => {
    await gate.promise
    return text('whole')
  })
  const { port, kernel } = await listening([slow], patient)
  const request = 'GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const socket = openSocket(port)
  socket.write(`${request}${request}no request\r\n\r\n`)
  await expect.poll(() => kernel.requestIds().length).toBe(2)
  await setImmediate()
  gate.resolve()
  const answers = (await readAll(socket)).split('HTTP/1.1 200 OK').slice(1)
  expect(answers.map((answer) => [/connection: close/i.test(answer), answer.endsWith('whole')])).toEqual([
    [false, true],
    [true, true],
  ])
})
