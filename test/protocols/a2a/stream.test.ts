import { createParser } from 'eventsource-parser'
import { expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import { A2AStreamEvent } from '../../../src/wire/protocols/a2a.ts'
import { openA2A, rpc } from '../../support/a2a.ts'
import { parseWhatwg } from '../../support/client/whatwg-sse.ts'
import { echo, gate, runnable } from '../../support/services.ts'

function parsePackage(text: string): { data: string; event: string | undefined; id: string | undefined }[] {
  const events: { data: string; event: string | undefined; id: string | undefined }[] = []
  createParser({ onEvent: ({ data, event, id }) => events.push({ data, event, id }) }).feed(text)
  return events
}

test('is content for each fragment and done, in exactly these bytes', async () => {
  const { post } = await openA2A({ echo })
  const response = await post('streamMessage', rpc('streamMessage', 'echo', 'one two three', { contextId: 'c' }))
  expect(response.status).toBe(200)
  expect(response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-session-id': 'c' })
  expect(response.headers['x-run-id']).toMatch(/^run_/)
  expect(await response.text()).toBe(
    'data: {"type":"content","content":"one "}\n\n' +
      'data: {"type":"content","content":"two "}\n\n' +
      'data: {"type":"content","content":"three"}\n\n' +
      'data: {"type":"done"}\n\n',
  )
})

test('reads the same to two parsers, whatever the text is', async () => {
  const fragments = ['\n\ndata: {"type":"done"}\n\n', '\r', '\u2028\0', 'é👩‍👩‍👧', ': hb', '"\\', '\ud800']
  const hostile = runnable(async function* () {
    yield* fragments
  })
  const { post } = await openA2A({ hostile })
  const text = await (await post('streamMessage', rpc('streamMessage', 'hostile', 'go'))).text()
  const mine = parseWhatwg(text)
  expect(parsePackage(text).map(({ data }) => data)).toEqual(mine.map(({ data }) => data))
  expect(mine.every(({ type, id }) => type === 'message' && id === '')).toBe(true)
  const events = mine.map(({ data }) => A2AStreamEvent.parse(JSON.parse(data)))
  expect(events).toEqual([...fragments.map((content) => ({ type: 'content', content })), { type: 'done' }])
  for (const line of text.split('\n')) expect(line === '' || line.startsWith('data: {')).toBe(true)
})

test('sends each fragment while the run goes on, and the headers before the first', async () => {
  const tooled = gate()
  const waits = runnable(async function* (input, context) {
    yield { type: 'retrieval', query: 'q', results: [] }
    yield* tooled.runnable.run(input, context)
  })
  const { kernel, runs } = await openA2A({ waits })
  const { url } = await kernel.listen({ host: '127.0.0.1', port: 0 })
  try {
    const response = await fetch(`${url}/api/v1/a2a/streamMessage`, {
      method: 'POST',
      body: JSON.stringify(rpc('streamMessage', 'waits', 'go')),
      headers: { 'content-type': 'application/json' },
    })
    const { runId } = await tooled.begun(0)
    expect(response.headers.get('x-run-id')).toBe(runId)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('data: {"type":"content","content":"a"}\n\n')
    expect((await runs.get(runId)).status).toBe('running')
    tooled.open(0)
    let rest = ''
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest += Buffer.from(next.value)
    expect(rest).toBe('data: {"type":"content","content":"b"}\n\ndata: {"type":"done"}\n\n')
  } finally {
    await kernel.close({ deadlineMs: 100 })
  }
})

test('sends the headers of a run that has begun and said nothing yet', async () => {
  const quiet = Promise.withResolvers<void>()
  const thinks = runnable(async function* () {
    yield { type: 'retrieval', query: 'q', results: [] }
    await quiet.promise
    yield 'so'
  })
  const { kernel } = await openA2A({ thinks })
  const { url } = await kernel.listen({ host: '127.0.0.1', port: 0 })
  try {
    const response = await fetch(`${url}/api/v1/a2a/streamMessage`, {
      method: 'POST',
      body: JSON.stringify(rpc('streamMessage', 'thinks', 'go')),
      headers: { 'content-type': 'application/json' },
    })
    expect(response.headers.get('x-run-id')).toMatch(/^run_/)
    quiet.resolve()
    expect(await response.text()).toBe('data: {"type":"content","content":"so"}\n\ndata: {"type":"done"}\n\n')
  } finally {
    await kernel.close({ deadlineMs: 100 })
  }
})

test('answers a failure before the first event as a plain error', async () => {
  const { post } = await openA2A({
    broken: runnable(async function* () {
      yield* []
      throw new AppError('run_failed', 'The oven is cold.')
    }),
  })
  const request = rpc('streamMessage', 'broken', 'go')
  const response = await post('streamMessage', request)
  expect(response.status).toBe(200)
  expect(response.headers['content-type']).toContain('application/json')
  expect(await response.json()).toEqual({
    jsonrpc: '2.0',
    id: request.id,
    error: { code: -32603, message: 'The oven is cold.' },
  })
  const unknown = await post('streamMessage', rpc('streamMessage', 'nobody', 'go'))
  expect(await unknown.json()).toMatchObject({ error: { code: -32602, message: 'agent not found: nobody' } })
})

test('ends a run that fails later with error and done', async () => {
  const { post } = await openA2A({
    broken: runnable(async function* () {
      yield 'half'
      throw new AppError('run_failed', 'The oven\nis cold.')
    }),
  })
  expect(await (await post('streamMessage', rpc('streamMessage', 'broken', 'go'))).text()).toBe(
    'data: {"type":"content","content":"half"}\n\n' +
      'data: {"type":"error","code":-32603,"message":"The oven\\nis cold."}\n\n' +
      'data: {"type":"done"}\n\n',
  )
})

test('ends a run that is cancelled with error and done', async () => {
  const gated = gate()
  const { post, runs } = await openA2A({ gated: gated.runnable })
  const response = await post('streamMessage', rpc('streamMessage', 'gated', 'go'))
  const { runId } = await gated.begun(0)
  await runs.cancel(runId)
  const events = parseWhatwg(await response.text()).map(({ data }) => JSON.parse(data))
  expect(events).toEqual([
    { type: 'content', content: 'a' },
    { type: 'error', code: -32603, message: 'The run was cancelled on request.' },
    { type: 'done' },
  ])
  gated.open(0)
})

test('cancels the run of a reader that leaves, unless it said continue', async () => {
  for (const onDisconnect of [undefined, 'continue']) {
    const gated = gate()
    const { post, runs } = await openA2A({ gated: gated.runnable })
    const request = rpc('streamMessage', 'gated', 'go')
    Object.assign(request.params, { onDisconnect })
    const client = new AbortController()
    await post('streamMessage', request, {}, client.signal)
    const { runId } = await gated.begun(0)
    client.abort()
    if (onDisconnect === 'continue') gated.open(0)
    const expected = onDisconnect === 'continue' ? 'completed' : 'cancelled'
    await expect.poll(async () => (await runs.get(runId)).status).toBe(expected)
    gated.open(0)
  }
})

test('joins the stream of the same message from its beginning', async () => {
  const gated = gate()
  const { post, runs } = await openA2A({ gated: gated.runnable })
  const request = rpc('streamMessage', 'gated', 'go')
  const first = await post('streamMessage', request)
  await gated.begun(0)
  const second = await post('streamMessage', request)
  gated.open(0)
  expect(await second.text()).toBe(await first.text())
  const late = await post('streamMessage', request)
  expect(late.headers['x-run-id']).toBe(first.headers['x-run-id'])
  expect(parseWhatwg(await late.text()).map(({ data }) => JSON.parse(data).content)).toEqual(['a', 'b', undefined])
  expect((await runs.list({}, { limit: 10 })).items).toHaveLength(1)
})

test('streams 64 runs at once without mixing them', async () => {
  const { post } = await openA2A({ echo })
  const texts = Array.from({ length: 64 }, (_, index) => `stream ${index} of many words`)
  const answers = await Promise.all(
    texts.map(async (text) => (await post('streamMessage', rpc('streamMessage', 'echo', text))).text()),
  )
  const said = answers.map((answer) =>
    parseWhatwg(answer)
      .map(({ data }) => JSON.parse(data).content ?? '')
      .join(''),
  )
  expect(said).toEqual(texts)
})
