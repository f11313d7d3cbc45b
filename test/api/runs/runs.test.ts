import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Emission } from '../../../src/core/runnable.ts'
import { echo, runnable } from '../../support/services.ts'
import { told } from '../../support/told.ts'
import { framesOf, openTestServer, type TestServer } from '../server.ts'

let server: TestServer
let sessionId: string
let runIds: string[]

beforeEach(async () => {
  const failing = runnable(async function* () {
    yield 'half'
    throw new Error('broken')
  })
  server = await openTestServer({ entities: { echo, failing } })
  sessionId = (await server.call('POST', '/api/v1/sessions')).body.session_id
  runIds = []
  for (const input of ['one', 'two', 'three']) {
    const { body } = await server.call('POST', '/api/v1/agents/echo/run', { input, session_id: sessionId })
    runIds.push(body.run_id)
  }
  await server.call('POST', '/api/v1/agents/failing/run', { input: 'x' })
})
afterEach(() => server.close())

describe('lists of runs', () => {
  it('show the newest first, filtered and paged', async () => {
    const all = await server.call('GET', '/api/v1/runs')
    expect(all.body).toMatchObject({ count: 4, next_cursor: null })
    expect((await server.call('GET', '/api/v1/runs?status=failed')).body.runs).toMatchObject([{ entity_id: 'failing' }])
    expect((await server.call('GET', '/api/v1/runs?agent_id=echo')).body.count).toBe(3)
    const page = await server.call('GET', `/api/v1/runs?session_id=${sessionId}&limit=2`)
    expect(page.body.runs.map((run: { run_id: string }) => run.run_id)).toEqual([runIds[2], runIds[1]])
    const rest = await server.call('GET', `/api/v1/sessions/${sessionId}/runs?limit=2&cursor=${page.body.next_cursor}`)
    expect(rest.body.runs.map((run: { run_id: string }) => run.run_id)).toEqual([runIds[0]])
  })
})

describe('one run', () => {
  it('says everything that is recorded of it', async () => {
    const { body } = await server.call('GET', `/api/v1/runs/${runIds[0]}`)
    expect(body).toMatchObject({
      entity_id: 'echo',
      entity_kind: 'agent',
      content: 'one',
      error: null,
      truncated: false,
    })
    expect(body.started_at).toMatch(/^\d{4}-.*Z$/)
  })

  it('is followed from any event on; Last-Event-ID wins over after', async () => {
    const path = `/api/v1/runs/${runIds[0]}/events`
    const whole = framesOf((await server.call('GET', path)).body)
    expect(whole.length).toBe(3)
    const last = whole[0]?.id ?? ''
    const rest = await server.call('GET', `${path}?after=${last}`)
    expect(framesOf(rest.body)).toEqual(whole.slice(1))
    const again = await server.call('GET', `${path}?after=0`, undefined, { 'last-event-id': last })
    expect(framesOf(again.body)).toEqual(whole.slice(1))
    expect(framesOf((await server.call('GET', `${path}?after=100000`)).body)).toEqual([])
  })

  it.each(['after=-1', 'after=x', 'after=1.5'])('refuses %s', async (query) => {
    expect((await server.call('GET', `/api/v1/runs/${runIds[0]}/events?${query}`)).status).toBe(400)
  })

  it('has frames without an id for partial data, so that a reader comes back where it was', async () => {
    const { runnable: growing, say, end } = told()
    server.services.registry.register('growing', growing)
    const { body } = await server.call('POST', '/api/v1/agents/growing/run', { input: 'x', background: true })
    const path = `/api/v1/runs/${body.run_id}/events`
    const reading = server.kernel.inject({ method: 'GET', url: path, headers: {} })
    await say('a')
    const partial: Emission = { type: 'data_delta', data: { n: 1 } }
    await say(partial)
    const before = await reading
    const frames = before.body[Symbol.asyncIterator]()
    let text = ''
    while (!text.includes('data_delta')) text += Buffer.from((await frames.next()).value ?? '').toString()
    const [first, second, live] = framesOf(text)
    expect([first?.id, second?.id, live]).toEqual(['1', '2', { id: '', event: 'data_delta', data: live?.data }])
    expect(live?.data).toMatchObject({ ...partial, seq: 2 })
    await frames.return?.()
    const again = server.call('GET', path, undefined, { 'last-event-id': '2' })
    await say('b')
    end()
    const rest = framesOf((await again).body).filter(({ event }) => event !== 'data_delta')
    expect(rest.map(({ id }) => id)).toEqual(['3', '4'])
    expect(framesOf((await server.call('GET', path)).body).map(({ id }) => id)).toEqual(['1', '2', '3', '4'])
  })

  it('refuses a Last-Event-ID that is no number', async () => {
    const headers = { 'last-event-id': 'x' }
    const { status, body } = await server.call('GET', `/api/v1/runs/${runIds[0]}/events`, undefined, headers)
    expect([status, body.error.details[0].path]).toEqual([400, 'Last-Event-ID'])
  })

  it('that has ended is neither cancelled nor resumed', async () => {
    for (const action of ['cancel', 'resume']) {
      expect((await server.call('POST', `/api/v1/runs/${runIds[0]}/${action}`)).body.error.code).toBe('conflict')
      expect((await server.call('POST', `/api/v1/runs/${runIds[0]}/${action}`, [])).status).toBe(400)
    }
  })

  it('that does not exist is 404 whatever the body is', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/events?after=x'],
      ['POST', '/cancel'],
      ['POST', '/resume'],
    ] as const) {
      const { body } = await server.call(method, `/api/v1/runs/none${path}`, method === 'GET' ? undefined : '[')
      expect(body.error.code).toBe('run_not_found')
    }
  })
})

describe('GET /sessions/{id}/history', () => {
  const history = (query: string) => server.call('GET', `/api/v1/sessions/${sessionId}/history${query}`)

  it('shows the latest interactions, oldest first', async () => {
    const { body } = await history('')
    expect(body).toMatchObject({ session_id: sessionId, summary: null, has_more: false })
    expect(body.messages.map((message: { content: string }) => message.content)).toEqual([
      'one',
      'one',
      'two',
      'two',
      'three',
      'three',
    ])
    expect(body.runs.map((run: { run_id: string }) => run.run_id)).toEqual(runIds)
    expect(body.runs[0]).not.toHaveProperty('messages')
    expect(body.runs[0]).not.toHaveProperty('events')
    const latest = await history('?num_messages=1')
    expect([latest.body.messages.length, latest.body.has_more]).toEqual([2, true])
  })

  it('adds the recorded events to each run when asked', async () => {
    const { body } = await history('?stream_events=TRUE&num_messages=2')
    for (const run of body.runs) {
      expect(run.events.map((event: { type: string }) => event.type)).toEqual(['run_start', 'text_delta', 'run_end'])
    }
  })

  it.each(['num_messages=0', 'num_messages=1001', 'num_messages=x', 'stream_events=yes'])(
    'refuses %s',
    async (query) => {
      expect((await history(`?${query}`)).status).toBe(400)
    },
  )
})
