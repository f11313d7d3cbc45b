import type { ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import type { ClientOptions } from '../../src/client/client.ts'
import { createClient } from '../../src/client/create.ts'
import { encodeEvent } from '../../src/core/sse.ts'
import { collect } from '../support/collect.ts'
import { answer, openScriptedServer, type Script } from '../support/scripted-server.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function open(script: Script, options: Partial<ClientOptions> = {}) {
  const server = await openScriptedServer(script)
  const client = createClient({ url: server.url, ...options })
  closers.push(server.close, () => client.close())
  return { ...server, client }
}

const stamp = { run_id: 'run_1', at: '2026-01-01T00:00:00.000Z' }
const events = [
  { type: 'run_start', ...stamp, seq: 1, session_id: 'ses_1', entity_id: 'a', entity_kind: 'agent' },
  { type: 'text_delta', ...stamp, seq: 2, text: 'é👩‍👩‍👧' },
  { type: 'text_delta', ...stamp, seq: 3, text: '\n\n' },
  { type: 'run_end', ...stamp, seq: 7, status: 'completed', usage: null, cache_hit: false },
]
const frames = events.map((event) => encodeEvent({ id: event.seq, event: event.type, data: event }))
const whole = Buffer.from(`: hb\n\n${frames.join(': hb\n\n')}`)
const head = { 'content-type': 'text/event-stream', 'x-run-id': 'run_1', 'x-session-id': 'ses_1' }

function after(seq: number): string {
  return frames.filter((_frame, index) => (events[index]?.seq ?? 0) > seq).join('')
}

function cut(response: ServerResponse, bytes: Uint8Array): void {
  response.writeHead(200, head)
  response.write(bytes, () => response.destroy())
  if (bytes.byteLength === 0) response.flushHeaders()
}

test('takes up a stream that was cut at any byte, without a gap or a repeat', async () => {
  let at = 0
  const { client, seen } = await open((request, response) => {
    if (request.method === 'POST') return cut(response, whole.subarray(0, at))
    response.writeHead(200, head)
    response.end(after(Number(request.headers['last-event-id'] ?? 0)))
  })
  // Every byte of the frames but the last line end, after which the final event has been read.
  for (at = 1; at < whole.length; at += 3) {
    const stream = await client.agents.stream('a', { input: 'x' })
    expect(await collect(stream), `cut at byte ${at}`).toEqual(events)
  }
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ input: 'x', on_disconnect: 'continue' })
}, 60_000)

test('partial data neither moves the place where a cut stream is taken up nor the result', async () => {
  const partial = (seq: number, n: number) => ({ type: 'data_delta', ...stamp, seq, data: { n } })
  const frame = (event: { type: string }) => encodeEvent({ event: event.type, data: event })
  const { client, seen } = await open((request, response) => {
    if (request.method === 'POST') {
      const live = [partial(1, 0), partial(1, 1), partial(2, 2)].map(frame)
      return cut(response, Buffer.from(`${frames[0]}${live[0]}${live[1]}${frames[1]}${live[2]}`))
    }
    response.writeHead(200, head)
    response.end(frame(partial(2, 3)) + after(Number(request.headers['last-event-id'])))
  })
  const read: unknown[] = []
  const stream = await client.agents.stream('a', { input: 'x' })
  for await (const event of stream) read.push(event)
  const live = [partial(1, 0), partial(1, 1), partial(2, 2), partial(2, 3)]
  expect(read).toEqual([events[0], live[0], live[1], events[1], live[2], live[3], events[2], events[3]])
  expect(seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2'])
  expect(await stream.result()).toMatchObject({ parts: [{ type: 'text', text: 'é👩‍👩‍👧\n\n' }], data: undefined })
})

test('takes up a stream again and again while it makes progress', async () => {
  const { client, seen } = await open((request, response) => {
    const from = Number(request.headers['last-event-id'] ?? 0)
    cut(response, Buffer.from(frames.find((_frame, index) => (events[index]?.seq ?? 0) > from) ?? ''))
  })
  const stream = await client.runs.events('run_1', { reconnects: 1 })
  expect(await collect(stream)).toEqual(events)
  expect(seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1', '2', '3'])
})

test('gives up after so many failures in a row, and says which run it was', async () => {
  const { client, seen } = await open(
    (request, response) =>
      request.method === 'POST' ? cut(response, Buffer.from(frames[0] ?? '')) : response.destroy(),
    { retries: 0 },
  )
  const stream = await client.agents.stream('a', { input: 'x' }, { reconnects: 2 })
  await expect(collect(stream)).rejects.toMatchObject({ code: 'unavailable', runId: 'run_1' })
  expect(seen.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET'])
})

test('does not ask again when the server says that the run is gone', async () => {
  const { client, seen } = await open((request, response) => {
    if (request.method === 'POST') return cut(response, Buffer.from(frames[0] ?? ''))
    answer(response, 404, { error: { code: 'run_not_found', message: 'gone' } })
  })
  const stream = await client.agents.stream('a', { input: 'x' })
  await expect(collect(stream)).rejects.toMatchObject({ code: 'run_not_found', runId: 'run_1' })
  expect(seen).toHaveLength(2)
})

test('takes silence for a cut, and heartbeats for life', async () => {
  const { client, seen } = await open(
    (request, response) => {
      response.writeHead(200, head)
      if (request.method === 'POST') return void response.write(frames[0])
      let beats = 0
      const beat = setInterval(() => {
        if (beats++ < 15) return void response.write(': hb\n\n')
        clearInterval(beat)
        response.end(after(1))
      }, 40)
    },
    { silenceMs: 400 },
  )
  expect(await collect(await client.agents.stream('a', { input: 'x' }))).toEqual(events)
  expect(seen).toHaveLength(2)
})

test('refuses an event without end and one that is not JSON', async () => {
  const { client } = await open((request, response) => {
    response.writeHead(200, head)
    if (request.url.includes('run_bad')) return void response.end('data: {\n\n')
    response.write('data: ')
    const piece = 'x'.repeat(1024 * 1024)
    const more = () => {
      while (!response.destroyed) if (!response.write(piece)) return void response.once('drain', more)
    }
    more()
  })
  await expect(collect(await client.runs.events('run_1'))).rejects.toMatchObject({ code: 'payload_too_large' })
  await expect(collect(await client.runs.events('run_bad'))).rejects.toMatchObject({ code: 'internal' })
})

test('a run of tests that ends before its end is told is an error after the results that came', async () => {
  const result = { type: 'result', name: 'hours', outcome: 'passed' }
  const { client } = await open((_request, response) => {
    response.writeHead(200, head)
    response.end(encodeEvent({ event: 'result', data: result }))
  })
  const results: unknown[] = []
  const read = async () => {
    for await (const one of await client.tests.run()) results.push(one)
  }
  await expect(read()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('ended early') })
  expect(results).toEqual([result])
})

test('refuses a stream that does not name its run', async () => {
  const { client } = await open((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frames[0])
  })
  await expect(client.agents.stream('a', { input: 'x' })).rejects.toMatchObject({
    message: expect.stringContaining('X-Run-Id'),
  })
})

test('reads an A2A stream, errors in it included, and knows when it was cut', async () => {
  const content = 'data: {"type":"content","content":"a"}\n\n'
  const failed = `${content}data: {"type":"error","code":-32603,"message":"no"}\n\ndata: {"type":"done"}\n\n`
  const { client } = await open((request, response) => {
    const { agentId } = JSON.parse(request.body).params.message
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    if (agentId === 'failing') response.end(failed)
    else if (agentId === 'short') response.end(content)
    else response.write(content, () => response.destroy())
  })
  const failing = await client.a2a.stream({ agentId: 'failing', content: 'x' })
  expect([failing.runId, failing.sessionId]).toEqual([undefined, undefined])
  expect((await collect(failing)).map(({ type }) => type)).toEqual(['content', 'error', 'done'])
  for (const agentId of ['short', 'cut']) {
    const stream = await client.a2a.stream({ agentId, content: 'x' })
    await expect(collect(stream)).rejects.toMatchObject({ code: 'unavailable' })
  }
})

test('takes up an A2A reply that was cut, or silent, wherever its fragments are cut now', async () => {
  const content = (text: string) => `data: ${JSON.stringify({ type: 'content', content: text })}\n\n`
  const failed = 'data: {"type":"error","code":-32603,"message":"no"}\n\n'
  const done = 'data: {"type":"done"}\n\n'
  const { client, seen } = await open(
    (_request, response, index) => {
      response.writeHead(200, head)
      if (index === 0) response.write(content('one t'))
      else if (index === 1) response.write(content('on') + content('e tw'), () => response.destroy())
      else if (index === 2) response.write(content('one two') + failed, () => response.destroy())
      else response.end(content('one ') + content('two') + failed + done)
    },
    { silenceMs: 200 },
  )
  const stream = await client.a2a.stream({ agentId: 'a', content: 'x', onDisconnect: 'continue' })
  expect(await collect(stream)).toEqual([
    { type: 'content', content: 'one t' },
    { type: 'content', content: 'w' },
    { type: 'content', content: 'o' },
    { type: 'error', code: -32603, message: 'no' },
    { type: 'done' },
  ])
  expect(new Set(seen.map(({ body }) => body)).size).toBe(1)
})

test('gives up an A2A reply that does not come back, and one that is not of our server at once', async () => {
  const { client, seen } = await open((request, response) => {
    const named = JSON.parse(request.body).params.message.agentId === 'ours' ? { 'x-run-id': 'run_1' } : {}
    response.writeHead(200, { 'content-type': 'text/event-stream', ...named })
    response.write(': hb\n\n', () => response.destroy())
  })
  const read = async (agentId: string) =>
    collect(await client.a2a.stream({ agentId, content: 'x', onDisconnect: 'continue' }, { reconnects: 2 }))
  await expect(read('ours')).rejects.toMatchObject({ code: 'unavailable', runId: 'run_1' })
  expect(seen).toHaveLength(3)
  await expect(read('foreign')).rejects.toMatchObject({ code: 'unavailable', runId: undefined })
  expect(seen).toHaveLength(4)
})

test('sends the same message when it asks A2A again', async () => {
  const { client, seen } = await open((_request, response, index) => {
    if (index === 0) return void response.destroy()
    answer(response, 200, {
      jsonrpc: '2.0',
      id: 'x',
      result: { task: { taskId: 't', status: 'completed', messages: [] } },
    })
  })
  const input = {
    agentId: 'a',
    content: [{ type: 'data' as const, data: '{}' }],
    contextId: 'c',
    onDisconnect: 'continue' as const,
  }
  expect(await client.a2a.send(input)).toMatchObject({ taskId: 't' })
  expect(seen[1]?.body).toBe(seen[0]?.body)
  expect(seen[0]?.headers['idempotency-key']).toBeUndefined()
  expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
    jsonrpc: '2.0',
    method: 'sendMessage',
    params: { message: { role: 'user', agentId: 'a', contextId: 'c' }, onDisconnect: 'continue' },
  })
})

test('lets nothing hang when it is closed with a stream still open', async () => {
  const { client } = await open((_request, response) => {
    response.writeHead(200, head)
    response.write(frames[0])
  })
  const stream = await client.runs.events('run_1', { reconnects: 0 })
  const reading = expect(collect(stream)).rejects.toMatchObject({ code: 'unavailable' })
  await client.close()
  await reading
})
