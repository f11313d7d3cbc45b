import { afterEach, describe, expect, it } from 'vitest'
import { echo, gate, runnable } from '../../support/services.ts'
import { framesOf, openTestServer, type TestServer, type TestServerOptions } from '../server.ts'

let server: TestServer
const open = async (options: TestServerOptions) => {
  server = await openTestServer(options)
}
afterEach(() => server.close())

const run = '/api/v1/agents/echo/run'
const failing = runnable(async function* () {
  yield 'half'
  throw new Error('the model is gone')
})
const calling = runnable(async function* () {
  yield { type: 'model_call_start', call_id: 'c', model: 'm', messages: [{ role: 'user', content: 'secret' }] } as const
  yield { type: 'model_call_end', call_id: 'c', usage: null, finish_reason: 'stop', duration_ms: 1 } as const
  yield { type: 'source', index: 1, source: 'a.md', document_id: 'doc_1', chunk_id: 'chk_1' } as const
  yield 'done'
})

describe('GET /agents', () => {
  it('lists, filters and describes what can be run', async () => {
    await open({ entities: { echo, flow: runnable(echo.run, { kind: 'workflow', description: 'steps' }) } })
    const { body } = await server.call('GET', '/api/v1/agents')
    expect(body.count).toBe(2)
    expect(body.agents[1]).toMatchObject({ id: 'flow', kind: 'workflow', description: 'steps', tools: [] })
    expect((await server.call('GET', '/api/v1/agents?kind=workflow')).body.agents).toEqual([body.agents[1]])
    expect((await server.call('GET', '/api/v1/agents?kind=bot')).status).toBe(400)
    expect((await server.call('GET', '/api/v1/agents/flow')).body).toEqual(body.agents[1])
    expect((await server.call('GET', '/api/v1/agents/none')).body.error.code).toBe('agent_not_found')
  })
})

describe('POST /agents/{id}/run', () => {
  it('answers with the whole run', async () => {
    await open({ entities: { echo } })
    const { status, body } = await server.call('POST', run, { input: 'hello there', metadata: { a: 1 } })
    expect(status).toBe(200)
    expect(body).toMatchObject({ agent_id: 'echo', status: 'completed', content: 'hello there', cache_hit: false })
    expect(body.metadata).toEqual({ a: 1 })
    expect(body.messages.map((message: { role: string }) => message.role)).toEqual(['user', 'assistant'])
    expect(Object.keys(body).toSorted()).toEqual(
      'again_of agent_id cache_hit completed_at content cost created_at messages metadata replaced_by run_id session_id sources status usage waiting'.split(
        ' ',
      ),
    )
  })

  it('continues a session, takes parts, and knows no other sessions', async () => {
    await open({ entities: { echo } })
    const { body } = await server.call('POST', run, { input: 'one' })
    const input = {
      parts: [
        { type: 'text', text: 'two' },
        { type: 'data', data: { x: 1 } },
      ],
    }
    const second = await server.call('POST', run, { input, session_id: body.session_id })
    expect(second.body.session_id).toBe(body.session_id)
    expect(second.body.messages[0].parts).toEqual(input.parts)
    const unknown = await server.call('POST', run, { input: 'x', session_id: 'none' })
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'session_not_found'])
  })

  it.each([
    [{}, 'input'],
    [{ input: 1 }, 'input'],
    [{ input: 'x', sessionId: 's' }, 'sessionId'],
    [{ input: 'x', multitask_strategy: 'rollback' }, 'multitask_strategy'],
    [{ input: 'x', background: true, stream: true }, 'background'],
  ])('refuses %j', async (body, path) => {
    await open({ entities: { echo } })
    const answer = await server.call('POST', run, body)
    expect([answer.status, answer.body.error.details[0].path]).toEqual([400, path])
    expect((await server.call('GET', '/api/v1/runs')).body.count).toBe(0)
  })

  it('says 404 for an unknown agent before it complains about the body', async () => {
    await open({ entities: { echo } })
    for (const body of ['{', '{}', '{"input":"x"}']) {
      const answer = await server.call('POST', '/api/v1/agents/none/run', body, { 'content-type': 'application/json' })
      expect(answer.body.error.code).toBe('agent_not_found')
    }
  })

  it('is 500 with its ids when the run fails, which is recorded', async () => {
    await open({ entities: { echo: failing } })
    const { status, body } = await server.call('POST', run, { input: 'x' })
    expect([status, body.error.code]).toEqual([500, 'run_failed'])
    const recorded = await server.call('GET', `/api/v1/runs/${body.error.run_id}`)
    expect(recorded.body).toMatchObject({ status: 'failed', session_id: body.error.session_id, content: 'half' })
  })

  it('is 504 with its id when it takes too long', async () => {
    const waiting = runnable(async function* (_, { signal }) {
      yield 'a'
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    await open({ entities: { echo: waiting }, requestTimeoutMs: 50 })
    const { status, body } = await server.call('POST', run, { input: 'x' })
    expect([status, body.error.code]).toEqual([504, 'timeout'])
    expect(body.error.message).toContain('requestTimeout')
    const recorded = await server.call('GET', `/api/v1/runs/${body.error.run_id}`)
    expect(recorded.body).toMatchObject({ status: 'cancelled', cancellation_reason: 'timeout' })
  })

  it('is 409 when somebody else cancels it', async () => {
    const { runnable: slow, begun } = gate()
    await open({ entities: { echo: slow } })
    const answer = server.call('POST', run, { input: 'x' })
    const { runId } = await begun(0)
    const cancelled = await server.call('POST', `/api/v1/runs/${runId}/cancel`, { reason: 'enough' })
    expect(cancelled.body).toMatchObject({ status: 'cancelled', cancellation_reason: 'enough' })
    const { status, body } = await answer
    expect([status, body.error.code, body.error.run_id]).toEqual([409, 'run_cancelled', runId])
    expect((await server.call('POST', `/api/v1/runs/${runId}/cancel`)).status).toBe(409)
  })

  it('runs once for one Idempotency-Key', async () => {
    await open({ entities: { echo } })
    const headers = { 'idempotency-key': 'k' }
    const first = await server.call('POST', run, { input: 'x' }, headers)
    expect((await server.call('POST', run, { input: 'x' }, headers)).body).toEqual(first.body)
    expect((await server.call('POST', run, { input: 'y' }, headers)).status).toBe(422)
    expect((await server.call('GET', '/api/v1/runs')).body.count).toBe(1)
  })

  it('is 202 in the background, with the place to look', async () => {
    const { runnable: slow, begun, open: release } = gate()
    await open({ entities: { echo: slow } })
    const { status, headers, body } = await server.call('POST', run, { input: 'x', background: true })
    expect(status).toBe(202)
    expect(headers.location).toBe(`/api/v1/runs/${body.run_id}`)
    await begun(0)
    release(0)
    const events = await server.call('GET', `${headers.location}/events`)
    expect(framesOf(events.body).at(-1)).toMatchObject({ event: 'run_end', data: { status: 'completed' } })
    expect((await server.call('GET', headers.location ?? '')).body.content).toBe('ab')
  })
})

describe('the stream of a run', () => {
  it.each([
    ['stream: true', run, { input: 'one two', stream: true }, {}],
    ['Accept', run, { input: 'one two' }, { accept: 'text/event-stream' }],
    ['/run/stream', `${run}/stream`, { input: 'one two' }, {}],
  ])('is asked for by %s', async (_, path, body, headers) => {
    await open({ entities: { echo } })
    const answer = await server.call('POST', path, body, headers)
    expect(answer.headers['content-type']).toBe('text/event-stream')
    const frames = framesOf(answer.body)
    expect(frames.map(({ event }) => event)).toEqual(['run_start', 'text_delta', 'text_delta', 'run_end'])
    expect(frames.map(({ data }) => data.type)).toEqual(frames.map(({ event }) => event))
    expect(frames.map(({ id }) => id)).toEqual(frames.map(({ data }) => String(data.seq)))
    expect(answer.headers['x-run-id']).toBe(frames[0]?.data.run_id)
    expect(answer.headers['x-session-id']).toBe(frames[0]?.data.session_id)
  })

  it('ends with run_error when the run fails', async () => {
    await open({ entities: { echo: failing } })
    const { status, body } = await server.call('POST', run, { input: 'x', stream: true })
    expect(status).toBe(200)
    expect(framesOf(body).at(-1)).toMatchObject({ event: 'run_error', data: { error: { code: 'run_failed' } } })
  })

  it('shows prompts only to those who ask for them', async () => {
    await open({ entities: { echo: calling } })
    const plain = await server.call('POST', run, { input: 'x', stream: true })
    expect(plain.body).not.toContain('secret')
    expect(framesOf(plain.body)[1]?.data).toMatchObject({ type: 'model_call_start', call_id: 'c', model: 'm' })
    const id = plain.headers['x-run-id']
    expect((await server.call('GET', `/api/v1/runs/${id}/events?include=prompts`)).body).toContain('secret')
    expect((await server.call('GET', `/api/v1/runs/${id}/events`)).body).not.toContain('secret')
    const full = await server.call('POST', `${run}?include=prompts`, { input: 'x', stream: true })
    expect(full.body).toContain('secret')
    expect((await server.call('GET', `/api/v1/runs/${id}/events?include=all`)).status).toBe(400)
    const { body } = await server.call('GET', `/api/v1/runs/${id}`)
    expect(body.sources).toMatchObject([{ index: 1, source: 'a.md', chunk_id: 'chk_1' }])
    const history = await server.call('GET', `/api/v1/sessions/${body.session_id}/history?stream_events=true`)
    expect(JSON.stringify(history.body)).not.toContain('secret')
  })
})
