import { afterEach, describe, expect, test } from 'vitest'
import { apiRoutes } from '../../src/api/routes.ts'
import type { ClientOptions } from '../../src/client/client.ts'
import { createClient } from '../../src/client/create.ts'
import type { RunEvent } from '../../src/core/event.ts'
import { a2aRoutes } from '../../src/protocols/a2a/a2a.ts'
import { openTestServer, type TestServerOptions } from '../api/server.ts'
import { collect } from '../support/collect.ts'
import { echo, gate, runnable } from '../support/services.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const ways = ['undici', 'fetch', 'no socket'] as const

async function open(way: (typeof ways)[number], options: TestServerOptions = {}) {
  const server = await openTestServer(options)
  closers.push(() => server.close())
  const { kernel, services, settings } = server
  kernel.setRoutes([...apiRoutes(services, settings), ...a2aRoutes(() => services, settings.a2aPrefix, 1000)])
  const client = createClient(await wayTo(way, kernel))
  closers.push(() => client.close())
  return { client, ...server }
}

async function wayTo(
  way: (typeof ways)[number],
  kernel: Awaited<ReturnType<typeof openTestServer>>['kernel'],
): Promise<ClientOptions> {
  if (way === 'no socket') return { transport: (request) => kernel.inject(request) }
  const { url } = await kernel.listen({ host: '127.0.0.1', port: 0 })
  return way === 'fetch' ? { url, fetch: globalThis.fetch } : { url }
}

const summarizer = { name: 'short', summarize: async () => 'They talked.' }

describe.each(ways)('by %s', (way) => {
  test('tells what can be run and how the server is', async () => {
    const { client } = await open(way, { entities: { echo } })
    expect(await client.agents.list('agent')).toMatchObject({ count: 1, agents: [{ id: 'echo', kind: 'agent' }] })
    expect((await client.agents.list('team')).agents).toEqual([])
    expect(await client.agents.get('echo')).toMatchObject({ id: 'echo' })
    expect(await client.health()).toMatchObject({ status: 'ok', version: '1.2.3' })
    await expect(client.agents.get('a/b')).rejects.toMatchObject({ code: 'agent_not_found' })
  })

  test('keeps sessions', async () => {
    const { client } = await open(way, { entities: { echo }, summarizer })
    const created = await client.sessions.create({ session_id: 's.1', name: 'first', metadata: { a: [1] } })
    expect(await client.sessions.get('s.1')).toEqual(created)
    const { etag } = await client.sessions.getTagged('s.1')
    const renamed = await client.sessions.update('s.1', { name: null }, { ifMatch: etag })
    expect(renamed).toMatchObject({ name: null, metadata: { a: [1] } })
    await expect(client.sessions.update('s.1', { name: 'x' }, { ifMatch: etag })).rejects.toMatchObject({
      code: 'precondition_failed',
    })
    expect(await client.sessions.reuse('s.1', { user_id: 'u' })).toMatchObject({ user_id: 'u' })
    await client.agents.run('echo', { input: 'hello', session_id: 's.1' })
    const history = await client.sessions.history('s.1', { interactions: 1, events: true })
    expect(history.messages.map(({ content }) => content)).toEqual(['hello', 'hello'])
    expect(history.runs[0]?.events?.at(-1)?.type).toBe('run_end')
    expect((await client.sessions.runs('s.1', { status: 'completed' })).count).toBe(1)
    await expect(client.sessions.summary.get('s.1')).rejects.toMatchObject({ code: 'summary_not_found' })
    expect(await client.sessions.summary.generate('s.1')).toMatchObject({ content: 'They talked.' })
    expect(await client.sessions.summary.get('s.1')).toMatchObject({ content: 'They talked.' })
    expect(await client.sessions.summary.schedule('s.1')).toEqual({ status: 'scheduled', session_id: 's.1' })
    expect(await client.sessions.delete('s.1')).toEqual({ session_id: 's.1', deleted: true })
    await expect(client.sessions.get('s.1')).rejects.toMatchObject({ code: 'session_not_found' })
  })

  test('pages through a list', async () => {
    const { client } = await open(way)
    for (const name of ['a', 'b', 'c']) await client.sessions.create({ session_id: name })
    const first = await client.sessions.list({}, { limit: 2 })
    const second = await client.sessions.list({}, { limit: 2, cursor: first.next_cursor ?? '' })
    expect([...first.sessions, ...second.sessions].map(({ session_id }) => session_id).sort()).toEqual(['a', 'b', 'c'])
    expect(second.next_cursor).toBeNull()
  })

  test('runs an agent plainly, in the background and as a stream', async () => {
    const { client } = await open(way, { entities: { echo } })
    const result = await client.agents.run('echo', { input: 'one two' })
    expect(result).toMatchObject({ status: 'completed', content: 'one two' })
    expect(await client.runs.get(result.run_id)).toMatchObject({ run_id: result.run_id, entity_id: 'echo' })
    const accepted = await client.agents.background('echo', { input: 'three' })
    expect((await collect(await client.runs.events(accepted.run_id))).at(-1)?.type).toBe('run_end')
    const stream = await client.agents.stream('echo', { input: 'four five', session_id: accepted.session_id })
    expect(stream.sessionId).toBe(accepted.session_id)
    const events = await collect(stream)
    expect(events.map(({ type, run_id, seq }) => [type, run_id, seq])).toEqual(
      ['run_start', 'text_delta', 'text_delta', 'run_end'].map((type, index) => [type, stream.runId, index + 1]),
    )
    expect(await collect(await client.runs.events(stream.runId, { after: 2 }))).toEqual(events.slice(2))
    expect((await client.runs.list({ agent_id: 'echo' })).count).toBe(3)
  })

  test('cancels a run, and says that an ended one can not be', async () => {
    const gated = gate()
    const { client } = await open(way, { entities: { gated: gated.runnable } })
    const stream = await client.agents.stream('gated', { input: 'go' })
    await gated.begun(0)
    expect(await client.runs.cancel(stream.runId, 'enough')).toMatchObject({ status: 'cancelled' })
    expect((await collect(stream)).at(-1)).toMatchObject({ type: 'run_end', cancellation_reason: 'enough' })
    await expect(client.runs.cancel(stream.runId)).rejects.toMatchObject({ code: 'conflict', runId: stream.runId })
    await expect(client.runs.resume(stream.runId, { approved: true })).rejects.toMatchObject({ code: 'conflict' })
    gated.open(0)
  })

  test('resumes a run that waits, and follows it from where it goes on', async () => {
    const asking = runnable(async function* (_input, { resumed }) {
      if (resumed === undefined) yield { type: 'input_required', call_id: 'may', prompt: 'May I?' }
      else yield `You said ${JSON.stringify(resumed.approved)}.`
    })
    const { client } = await open(way, { entities: { asking } })
    const { run_id: runId, status } = await client.agents.run('asking', { input: 'x' })
    expect(status).toBe('input_required')
    expect((await client.runs.list({ status: 'input_required' })).runs).toMatchObject([{ run_id: runId }])
    const paused = await collect(await client.runs.events(runId))
    expect(paused.at(-1)).toMatchObject({ type: 'run_end', status: 'input_required' })
    await expect(client.runs.resume(runId)).rejects.toMatchObject({ code: 'invalid_request' })
    const accepted = await client.runs.resume(runId, { approved: { may: false }, background: true })
    expect(accepted.run_id).toBe(runId)
    const after = await collect(await client.runs.events(runId, { after: paused.at(-1)?.seq }))
    expect(after.map(({ type }) => type)).toEqual(['run_resumed', 'text_delta', 'run_end'])
    expect(await client.runs.get(runId)).toMatchObject({ status: 'completed', content: 'You said {"may":false}.' })
  })

  test('cancels the run when the reader leaves the loop or aborts, and not when told to let it go on', async () => {
    const gated = gate()
    const { client, services } = await open(way, { entities: { gated: gated.runnable } })
    const statusOf = async (runId: string) => (await services.runs.get(runId)).status
    const first = await client.agents.stream('gated', { input: 'go' })
    for await (const event of first) if (event.type === 'text_delta') break
    expect(await statusOf(first.runId)).toBe('cancelled')

    const leaving = new AbortController()
    const second = await client.agents.stream('gated', { input: 'go' }, { signal: leaving.signal })
    const read = async () => {
      for await (const event of second) if (event.type === 'text_delta') leaving.abort(new Error('bye'))
    }
    await expect(read()).rejects.toThrow('bye')
    expect(await statusOf(second.runId)).toBe('cancelled')

    const third = await client.agents.stream('gated', { input: 'go', on_disconnect: 'continue' })
    for await (const event of third) if (event.type === 'text_delta') break
    for (const index of [0, 1, 2]) gated.open(index)
    await expect.poll(() => statusOf(third.runId)).toBe('completed')
  })

  test('speaks A2A', async () => {
    const { client, services } = await open(way, { entities: { echo } })
    const task = await client.a2a.send({ agentId: 'echo', content: 'hi', contextId: 'c', messageId: 'm' })
    expect(task).toMatchObject({ status: 'completed', messages: [{ contextId: 'c', parts: [{ content: 'hi' }] }] })
    expect(await client.a2a.send({ agentId: 'echo', content: 'hi', contextId: 'c', messageId: 'm' })).toEqual(task)
    const stream = await client.a2a.stream({ agentId: 'echo', content: 'one two', contextId: 'c' })
    expect(stream.sessionId).toBe('c')
    expect(await collect(stream)).toEqual([
      { type: 'content', content: 'one ' },
      { type: 'content', content: 'two' },
      { type: 'done' },
    ])
    expect(await services.runs.get(stream.runId ?? '')).toMatchObject({ status: 'completed', session_id: 'c' })
    const nobody = { agentId: 'nobody', content: 'hi' }
    await expect(client.a2a.send(nobody)).rejects.toMatchObject({ code: 'agent_not_found' })
    await expect(client.a2a.stream(nobody)).rejects.toMatchObject({ code: 'agent_not_found' })
    await expect(client.a2a.send({ agentId: 'echo', content: [] })).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'message must have at least one part',
    })
  })

  test('throws what the server threw', async () => {
    const { client } = await open(way, { entities: { echo } })
    await expect(client.agents.run('echo', { input: 'x', session_id: 'none' })).rejects.toMatchObject({
      name: 'AppError',
      code: 'session_not_found',
    })
    await expect(client.agents.run('echo', { input: { parts: [] } })).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'input.parts' }],
    })
    await expect(client.runs.events('run_none')).rejects.toMatchObject({ code: 'run_not_found' })
    await expect(client.knowledge.status()).rejects.toMatchObject({ code: 'route_not_found' })
  })

  test('throws the reason of a signal that was aborted before or meanwhile', async () => {
    const gated = gate()
    const { client } = await open(way, { entities: { gated: gated.runnable } })
    const aborted = AbortSignal.abort(new Error('too late'))
    await expect(client.health({ signal: aborted })).rejects.toThrow('too late')
    const controller = new AbortController()
    const pending = client.agents.run('gated', { input: 'go' }, { signal: controller.signal })
    await gated.begun(0)
    controller.abort(new Error('changed my mind'))
    await expect(pending).rejects.toThrow('changed my mind')
    gated.open(0)
  })

  test('gives up an answer after the time limit of the call', async () => {
    const gated = gate()
    const { client } = await open(way, { entities: { gated: gated.runnable } })
    const pending = client.agents.run('gated', { input: 'go' }, { timeoutMs: 50 })
    await expect(pending).rejects.toMatchObject({ code: 'timeout', message: expect.stringMatching(/within 50 ms/) })
    gated.open(0)
  })
})

test('types the events it gives', async () => {
  const { client } = await open('no socket', { entities: { echo } })
  const events: RunEvent[] = await collect(await client.agents.stream('echo', { input: 'a' }))
  expect(events[1]).toMatchObject({ type: 'text_delta', text: 'a' })
})

test.each(['', 'nonsense', 'ftp://host', '127.0.0.1:8080'])('refuses the URL %j', (url) => {
  expect(() => createClient({ url })).toThrow(/must be http/)
})
