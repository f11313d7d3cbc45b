import { describe, expect, test, vi } from 'vitest'
import { type Any, eventsOf, ResponseFold } from './fold.ts'
import { openResponses, textOf } from './support.ts'

test('answers a text, and gives the same object and stream later', async () => {
  const { call, get, replay, stream } = await openResponses()
  const { status, headers, body } = await call('POST', '/responses', { model: 'echo', input: 'hello you' })
  expect([status, body.status, textOf(body)]).toEqual([200, 'completed', 'hello you'])
  expect(headers).toMatchObject({ 'x-run-id': `run_${body.id.slice(5)}`, 'x-session-id': body.conversation.id })
  expect(await get(body.id)).toEqual(body)
  const { text, response } = await stream({ input: 'hello you' })
  expect(await get(response.id)).toEqual(response)
  expect(await replay(response.id)).toBe(text)
})

test('goes on without reading the whole session, or the events of the response before', async () => {
  const { create, store, services } = await openResponses()
  const first = await create({ input: 'one' })
  const sessions = vi.spyOn(services.sessions, 'get')
  const events = vi.spyOn(store, 'readEvents')
  const second = await create({ input: 'two', previous_response_id: first.id })
  const third = await create({ input: 'three', conversation: second.conversation.id })
  expect([second, third].map(({ conversation }) => conversation.id)).toEqual(Array(2).fill(first.conversation.id))
  expect(sessions).not.toHaveBeenCalled()
  const ofFirst = events.mock.calls.filter(([runId]) => runId === `run_${first.id.slice(5)}`)
  expect(ofFirst.length).toBeGreaterThan(0)
  for (const [, , , types] of ofFirst) expect(types).toEqual(['run_resumed'])
})

test('a stream goes on after any event', async () => {
  const { stream, replay } = await openResponses()
  const { text, response } = await stream({ input: 'one two three' })
  const frames = text.split(/(?<=\n\n)/)
  for (const [place, event] of eventsOf(text).entries()) {
    const rest = await replay(response.id, event.sequence_number)
    expect(rest).toBe(place + 2 < frames.length ? frames.slice(place + 1).join('') : '')
  }
})

test('repeats the fields of the request, also when it is had again', async () => {
  const { create, get, call } = await openResponses()
  const tools = [{ type: 'web_search' }, { type: 'function', name: 'pick', parameters: { type: 'object' } }]
  const given = {
    instructions: 'Be kind.',
    metadata: { order: '7' },
    temperature: 0.3,
    top_p: 0.5,
    max_output_tokens: 99,
    max_tool_calls: 3,
    parallel_tool_calls: false,
    reasoning: { effort: 'low' },
    tools,
    truncation: 'auto',
    user: 'ann',
    service_tier: 'flex',
    safety_identifier: 's',
    prompt_cache_key: 'k',
    text: { format: { type: 'text' }, verbosity: 'low' },
  }
  const made = await create({ input: 'hi', ...given, include: ['x'], stream_options: { include_obfuscation: true } })
  expect(made).toMatchObject({ ...given, model: 'echo', background: false, store: true, tool_choice: 'auto' })
  expect(await get(made.id)).toEqual(made)
  const { headers } = await call('POST', '/responses', { model: 'echo', input: 'hi', tools })
  expect(headers['x-agentserve-ignored']).toBe('tools')
})

test('keeps metadata and the user with the run', async () => {
  const { create, services } = await openResponses()
  const { id } = await create({ input: 'hi', metadata: { order: '7' }, user: 'ann' })
  const { metadata } = await services.runs.get(`run_${id.slice(5)}`)
  expect(metadata).toEqual({ openai: { metadata: { order: '7' }, user: 'ann' } })
})

describe('sessions', () => {
  test('a response goes on from another one, in its session and without a model', async () => {
    const { create } = await openResponses()
    const one = await create({ model: 'recalls', input: 'one' })
    const two = await create({ model: undefined, input: 'two', previous_response_id: one.id })
    expect(textOf(two)).toBe('one|one|two')
    expect(two).toMatchObject({ conversation: one.conversation, previous_response_id: one.id, model: 'recalls' })
  })

  test('three branches of one response have only their own turns, at once too', async () => {
    const { create, get, services } = await openResponses()
    const root = await create({ model: 'recalls', input: 'root' })
    const next = (input: string, previous_response_id: string) =>
      create({ model: 'recalls', input, previous_response_id })
    const branches = await Promise.all(['a', 'b', 'c'].map((name) => next(name, root.id)))
    expect(branches.map(textOf)).toEqual(['root|root|a', 'root|root|b', 'root|root|c'])
    expect(new Set(branches.map(({ conversation }) => conversation.id)).size).toBe(3)
    for (const [place, branch] of branches.entries()) {
      const name = 'abc'[place]
      expect(await get(branch.id)).toEqual(branch)
      const later = await next(`${name}2`, branch.id)
      expect(textOf(later)).toBe(`root|root|${name}|root|root|${name}|${name}2`)
      expect(later.conversation).toEqual(branch.conversation)
    }
    const late = await next('late', root.id)
    expect(textOf(late)).toBe('root|root|late')
    expect(await get(root.id)).toEqual(root)
    expect((await services.sessions.list({}, { limit: 100 })).items).toHaveLength(4)
  })

  test('a branch that could not be made leaves no copy of the session', async () => {
    const { create, call, services } = await openResponses()
    const root = await create({ input: 'root' })
    await create({ input: 'a', previous_response_id: root.id })
    const body = { model: 'nobody', input: 'b', previous_response_id: root.id }
    expect((await call('POST', '/responses', body)).error.code).toBe('model_not_found')
    expect((await services.sessions.list({}, { limit: 100 })).items).toHaveLength(1)
  })

  test('a conversation is a session, made by its first response or before it', async () => {
    const { create, call } = await openResponses()
    const said = await create({ model: 'recalls', input: 'one', conversation: 'chat-1' })
    expect(said.conversation).toEqual({ id: 'chat-1' })
    const known = [
      { role: 'user', content: 'other' },
      { role: 'assistant', content: 'words' },
      { role: 'user', content: [{ type: 'input_text', text: 'two' }] },
    ]
    const two = await create({ model: undefined, input: known, conversation: { id: 'chat-1' } })
    expect(textOf(two)).toBe('one|one|two')
    const { body } = await call('POST', '/conversations', { metadata: { topic: 'x' } })
    expect(body).toEqual({
      id: expect.stringMatching(/^ses_/),
      object: 'conversation',
      created_at: expect.any(Number),
      metadata: { topic: 'x' },
    })
    expect((await call('GET', `/conversations/${body.id}`)).body).toEqual(body)
    expect((await create({ input: 'hi', conversation: body.id })).conversation.id).toBe(body.id)
    expect((await call('DELETE', `/conversations/${body.id}`)).body).toEqual({
      id: body.id,
      object: 'conversation.deleted',
      deleted: true,
    })
    expect((await call('GET', `/conversations/${body.id}`)).error.code).toBe('conversation_not_found')
  })

  test('without a session the caller says what was said, or names it', async () => {
    const { create } = await openResponses()
    const one = await create({ model: 'recalls', input: 'one' })
    const [{ id }] = one.output
    const three = await create({
      model: 'recalls',
      input: [
        { role: 'user', content: 'zero' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'null' }] },
        { role: 'user', content: 'one' },
        { type: 'item_reference', id },
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { role: 'user', content: 'two' },
      ],
    })
    expect(textOf(three)).toBe('zero|null|one|one|two')
    expect(three.conversation.id).not.toBe(one.conversation.id)
  })
})

test('what is not stored is never had again', async () => {
  const { create, call } = await openResponses()
  const { id, store } = await create({ input: 'hi', store: false })
  expect(store).toBe(false)
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '?stream=true'],
    ['GET', '/input_items'],
    ['POST', '/cancel'],
  ]) {
    const { status, error } = await call(method ?? '', `/responses/${id}${path}`)
    expect([status, error.code]).toEqual([404, 'response_not_found'])
  }
  const { status, error } = await call('POST', '/responses', { input: 'two', previous_response_id: id })
  expect([status, error.code, error.param]).toEqual([400, 'previous_response_not_found', 'previous_response_id'])
  expect((await call('POST', '/responses', { model: 'echo', input: 'x', store: false, background: true })).status).toBe(
    400,
  )
})

test('lists its input, page by page', async () => {
  const { create, call } = await openResponses()
  const input = [
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'two' },
    { role: 'user', content: 'three' },
  ]
  const { id } = await create({ input })
  const list = async (query: string) => (await call('GET', `/responses/${id}/input_items${query}`)).body
  const all = await list('?order=asc')
  expect(all.data.map(({ role, content }: Any) => [role, content[0].text])).toEqual([
    ['user', 'one'],
    ['assistant', 'two'],
    ['user', 'three'],
  ])
  const first = await list('?limit=2')
  expect(first).toMatchObject({ object: 'list', has_more: true, data: [{ role: 'user' }, { role: 'assistant' }] })
  const rest = await list(`?limit=2&after=${first.last_id}`)
  expect(rest).toMatchObject({ has_more: false, data: [{ content: [{ text: 'one' }] }] })
  expect((await call('GET', `/responses/${id}/input_items?limit=0`)).status).toBe(400)
  expect((await call('GET', `/responses/${id}/input_items?after=x`)).status).toBe(400)
})

test('a run that fails is an error that is not tried again, and a failed response', async () => {
  const { call, get, stream } = await openResponses()
  const { status, headers, error } = await call('POST', '/responses', { model: 'failing', input: 'hi' })
  expect([status, error.type, error.code, headers['x-should-retry']]).toEqual([
    500,
    'server_error',
    'run_failed',
    'false',
  ])
  const found = await get(headers['x-run-id']?.replace('run_', 'resp_') ?? '')
  expect(found).toMatchObject({ status: 'failed', error: { code: 'server_error', message: error.message } })
  expect(textOf(found)).toBe('so far ')
  const { response } = await stream({ model: 'failing', input: 'hi' })
  expect(response).toMatchObject({ status: 'failed', output: [{ status: 'incomplete' }] })
})

describe('in the background', () => {
  test('it is answered at once, followed, and found when it has ended', async () => {
    const { open, get, gate, kernel } = await openResponses()
    const begun = (await (await open({ model: 'gated', input: 'hi', background: true })).json()) as Any
    expect(begun).toMatchObject({ status: expect.stringMatching(/queued|in_progress/), output: [], background: true })
    await gate.begun(0)
    await expect.poll(async () => textOf(await get(begun.id))).toBe('a')
    expect((await get(begun.id)).status).toBe('in_progress')
    const followed = await kernel.inject({ url: `/v1/responses/${begun.id}?stream=true` })
    gate.open(0)
    const { response } = ResponseFold.of(eventsOf(await followed.text()))
    expect([response.status, textOf(response)]).toEqual(['completed', 'ab'])
    expect(await get(begun.id)).toEqual(response)
  })

  test('a stream that its reader leaves goes on', async () => {
    const { open, get, gate, timers } = await openResponses()
    const leaving = new AbortController()
    const { body, headers } = await open(
      { model: 'gated', input: 'hi', background: true, stream: true },
      leaving.signal,
    )
    const reader = body[Symbol.asyncIterator]()
    await reader.next()
    await gate.begun(0)
    leaving.abort()
    await reader.return?.()
    timers.advance(60_000)
    gate.open(0)
    const id = headers['x-run-id']?.replace('run_', 'resp_') ?? ''
    await expect.poll(async () => (await get(id)).status).toBe('completed')
  })
})

test('a run whose client left is cancelled 2 seconds later, unless the client is back', async () => {
  const { open, get, gate, timers, kernel } = await openResponses()
  for (const index of [0, 1]) {
    const leaving = new AbortController()
    const { body, headers } = await open({ model: 'gated', input: 'hi', stream: true }, leaving.signal)
    const reader = body[Symbol.asyncIterator]()
    await reader.next()
    await gate.begun(index)
    leaving.abort()
    await reader.return?.()
    const id = headers['x-run-id']?.replace('run_', 'resp_') ?? ''
    timers.advance(1_900)
    expect((await get(id)).status).toBe('in_progress')
    const back =
      index === 1 ? await kernel.inject({ url: `/v1/responses/${id}?stream=true&starting_after=1` }) : undefined
    timers.advance(60_000)
    gate.open(index)
    if (back === undefined) await expect.poll(async () => (await get(id)).status).toBe('cancelled')
    else expect((await back.text()).endsWith('[DONE]\n\n')).toBe(true)
    if (back !== undefined) expect((await get(id)).status).toBe('completed')
  }
})

test('cancels what is under way and leaves what has ended', async () => {
  const { open, create, call, gate, kernel } = await openResponses()
  const { id } = (await (await open({ model: 'gated', input: 'hi', background: true })).json()) as Any
  await gate.begun(0)
  const followed = await kernel.inject({ url: `/v1/responses/${id}?stream=true` })
  const { status, body } = await call('POST', `/responses/${id}/cancel`)
  gate.open(0)
  expect([status, body.status, body.incomplete_details]).toEqual([200, 'cancelled', null])
  const events = eventsOf(await followed.text())
  expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: { status: 'cancelled' } })
  expect((await call('POST', `/responses/${id}/cancel`)).body).toEqual(body)
  const ended = await create({ input: 'done' })
  expect((await call('POST', `/responses/${ended.id}/cancel`)).body).toEqual(ended)
})

test('a response that waits behind another says so, and its stream is the same later', async () => {
  const { open, get, replay, gate } = await openResponses()
  const body = { model: 'gated', input: 'hi', conversation: 'busy' }
  const first = (await (await open({ ...body, background: true })).json()) as Any
  await gate.begun(0)
  const second = await open({ ...body, background: true, stream: true })
  const id = second.headers['x-run-id']?.replace('run_', 'resp_') ?? ''
  expect((await get(id)).status).toBe('queued')
  gate.open(0)
  gate.open(1)
  const text = await second.text()
  const types = eventsOf(text).map(({ type }) => type)
  expect(types.slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress'])
  expect(await replay(id)).toBe(text)
  expect((await get(first.id)).status).toBe('completed')
})
