import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { type Answer, openTestServer, type TestServer } from '../server.ts'

const ndjson = { 'content-type': 'application/x-ndjson' }

describe('copies of sessions', () => {
  let server: TestServer
  let runIds: string[]

  beforeEach(async () => {
    const talk = agent({
      async *run({ text }) {
        if (text === 'wait') await new Promise(() => {})
        yield 'You said: '
        yield text
      },
    })
    server = await openTestServer({ entities: { talk } })
    await server.call('POST', '/api/v1/sessions', {
      session_id: 'one',
      name: 'First',
      state: { n: 1 },
      metadata: { a: 1 },
    })
    runIds = []
    for (const input of ['red', 'green', 'blue']) {
      const { body } = await server.call('POST', '/api/v1/agents/talk/run', { session_id: 'one', input })
      runIds.push(body.run_id)
    }
  })
  afterEach(() => server.close())

  const exported = async (id: string, query = ''): Promise<string> =>
    (await server.call('GET', `/api/v1/sessions/${id}/export${query}`)).body
  const load = (lines: string, query = ''): Promise<Answer> =>
    server.call('POST', `/api/v1/sessions/import${query}`, lines, ndjson)
  const said = async (id: string) => {
    const { body } = await server.call('GET', `/api/v1/sessions/${id}/history`)
    return body.messages.map(({ content }: { content: string }) => content)
  }

  it('exports a session as lines, and imports the same again', async () => {
    await server.call('POST', '/api/v1/sessions/one/summary')
    const answer = await server.call('GET', '/api/v1/sessions/one/export')
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/x-ndjson'])
    const lines = answer.body
      .trimEnd()
      .split('\n')
      .map((line: string) => JSON.parse(line))
    expect(lines.map(({ type }: { type: string }) => type)).toEqual([
      'session',
      ...runIds.flatMap(() => ['run', 'events']),
      'end',
    ])
    expect(lines[0].session).toMatchObject({ session_id: 'one', name: 'First', state: { n: 1 } })
    expect(lines.at(-1)).toEqual({ type: 'end', runs: 3, events: 6 })
    const before = (await server.call('GET', '/api/v1/sessions/one')).body
    await server.call('DELETE', '/api/v1/sessions/one')
    const made = await load(answer.body)
    expect([made.status, made.headers.location]).toEqual([201, '/api/v1/sessions/one'])
    expect(made.headers.etag).toMatch(/^"\d+"$/)
    expect(made.body).toEqual(before)
    expect(await exported('one')).toBe(answer.body)
  })

  it('imports beside the original with new ids', async () => {
    const copy = await exported('one')
    expect((await load(copy)).body.error.code).toBe('conflict')
    const { status, body } = await load(copy, '?new_ids=true')
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'First', run_count: 3 })
    expect(body.session_id).not.toBe('one')
    expect(await said(body.session_id)).toEqual(await said('one'))
    const ids = (text: string) => [...text.matchAll(/(?:run|msg)_[0-9a-z]{26}/g)].map(([id]) => id)
    const [mine, others] = [new Set(ids(copy)), ids(await exported(body.session_id))]
    expect(others.length).toBeGreaterThan(9)
    expect(others.filter((id) => mine.has(id))).toEqual([])
  })

  it('leaves events out on request, and runs that have not ended always', async () => {
    const running = await server.call('POST', '/api/v1/agents/talk/run', {
      session_id: 'one',
      input: 'wait',
      background: true,
    })
    expect(running.status).toBe(202)
    const lines = (await exported('one', '?events=false')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(['session', 'run', 'run', 'run', 'end'])
    expect((await load(lines.join('\n'), '?new_ids=1')).body.run_count).toBe(3)
    const fork = await server.call('POST', '/api/v1/sessions/one/fork', { run_id: running.body.run_id })
    expect([fork.status, fork.body.error.code]).toEqual([409, 'conflict'])
    expect((await server.call('POST', '/api/v1/sessions/one/fork')).body.run_count).toBe(3)
  })

  it('forks at a run: what was said up to it, under new ids, and a conversation of its own from there', async () => {
    const { status, headers, body } = await server.call('POST', '/api/v1/sessions/one/fork', { run_id: runIds[1] })
    expect([status, headers.location]).toEqual([201, `/api/v1/sessions/${body.session_id}`])
    expect(body).toMatchObject({
      name: 'First',
      state: { n: 1 },
      metadata: { a: 1, forked_from: { session_id: 'one', run_id: runIds[1] } },
      run_count: 2,
      summary: null,
    })
    expect(body.runs.map((run: { run_id: string }) => run.run_id)).not.toContain(runIds[0])
    expect(await said(body.session_id)).toEqual(['red', 'You said: red', 'green', 'You said: green'])
    await server.call('POST', '/api/v1/agents/talk/run', { session_id: body.session_id, input: 'pink' })
    expect(await said(body.session_id)).toHaveLength(6)
    expect(await said('one')).toHaveLength(6)
    expect(await said('one')).not.toContain('pink')
    const events = await server.call('GET', `/api/v1/runs/${body.runs[0].run_id}/events`)
    expect(events.body).toContain('You said: ')
    expect(events.body).not.toContain(runIds[0])
  })

  it('forks under an id of the caller, once for one key, and not where there is nothing to fork', async () => {
    const fork = (body: object, headers = {}) => server.call('POST', '/api/v1/sessions/one/fork', body, headers)
    const key = { 'idempotency-key': 'k' }
    const first = await fork({ session_id: 'two' }, key)
    const second = await fork({ session_id: 'two' }, key)
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body])
    expect((await fork({ session_id: 'two' })).body.error.code).toBe('conflict')
    expect((await fork({ run_id: 'run_none' })).body.error.code).toBe('run_not_found')
    const other = await server.call('POST', '/api/v1/agents/talk/run', { input: 'elsewhere' })
    expect((await fork({ run_id: other.body.run_id })).body.error.code).toBe('run_not_found')
    expect((await fork({ session_id: 'not an id' })).status).toBe(400)
    const none = await server.call('POST', '/api/v1/sessions/none/fork', { session_id: 'not an id' })
    expect(none.body.error.code).toBe('session_not_found')
  })

  describe('refuses what is no copy, with the number of the line, and keeps nothing of it', () => {
    type Lines = Record<string, unknown>[]
    const edited: [string, number, RegExp, (lines: Lines) => unknown][] = [
      ['nothing', 1, /type end is missing/, () => ''],
      ['no JSON', 2, /malformed JSON/, (lines) => `${JSON.stringify(lines[0])}\n{"type":`],
      ['a cut file', 7, /type end is missing/, (lines) => lines.slice(0, -1)],
      ['runs that are missing', 4, /expected 3 runs/, (lines) => [...lines.slice(0, 3), lines.at(-1)]],
      ['no session', 1, /first line must be of type session/, (lines) => lines.slice(1)],
      ['two sessions', 2, /second session/, (lines) => [lines[0], lines[0]]],
      ['another version', 1, /version must be 1/, (lines) => change(lines, 0, { version: 2 })],
      [
        'an unknown line',
        2,
        /must be session, run, events, file or end/,
        (lines) => change(lines, 1, { type: 'what' }),
      ],
      ['a list', 1, /./, () => '[1]'],
      ['a run of another session', 2, /session_id must be/, (lines) => inRun(lines, { session_id: 'other' })],
      ['a run that goes on', 2, /run.status must be/, (lines) => inRun(lines, { status: 'running' })],
      ['a time that is none', 2, /run.created_at must be a time/, (lines) => inRun(lines, { created_at: '~' })],
      ['an unknown parent', 2, /parent_run_id/, (lines) => inRun(lines, { parent_run_id: 'run_x' })],
      ['a run twice', 4, /occurs twice/, (lines) => [...lines.slice(0, 3), ...lines.slice(1)]],
      [
        'a foreign message',
        2,
        /each message must have the run's run_id/,
        (lines) => inRun(lines, { messages: foreign(lines) }),
      ],
      ['a file nowhere', 2, /each file must have/, (lines) => inRun(lines, { messages: withFile(lines, {}) })],
      [
        'a file of this machine',
        2,
        /each file must have/,
        (lines) => inRun(lines, { messages: withFile(lines, { url: 'file:///etc/passwd' }) }),
      ],
      [
        'such a file in the history of a caller',
        2,
        /each file must have/,
        (lines) =>
          inRun(lines, {
            given: { history: withFile(lines, { url: 'nowhere' }, { role: 'user' }) },
          }),
      ],
      ['events of another run', 3, /run_id must be/, (lines) => change(lines, 2, { run_id: 'run_x' })],
      [
        'an event of no type',
        3,
        /events.0.type/,
        (lines) => change(lines, 2, { events: [{ ...event, type: 'a\nid: 9' }] }),
      ],
      ['a message with more', 2, /run.messages.0.more/, (lines) => inRun(lines, { messages: withMore(lines) })],
      ['numbers that repeat', 3, /events.1.seq/, (lines) => change(lines, 2, { events: [event, event] })],
      ['an end inside', 3, /events.0.type/, (lines) => change(lines, 2, { events: [ending] })],
      ['partial data', 3, /events.0.type/, (lines) => change(lines, 2, { events: [partial] })],
      ['something behind the end', 9, /nothing may follow/, (lines) => [...lines, lines[0]]],
      ['a polluted key', 1, /__proto__/, (lines) => `{"__proto__":{},${JSON.stringify(lines[0]).slice(1)}`],
    ]
    const at = '2026-01-05T09:30:00.000Z'
    const event = { type: 'text_delta', seq: 2, at, text: 'x' }
    const partial = { type: 'data_delta', seq: 2, at, data: {} }
    const ending = { type: 'run_end', seq: 2, at, status: 'completed', usage: null, cache_hit: false }

    function change(lines: Lines, place: number, fields: object): Lines {
      return lines.map((line, index) => (index === place ? { ...line, ...fields } : line))
    }
    function inRun(lines: Lines, fields: object): Lines {
      return change(lines, 1, { run: { ...(lines[1]?.run as object), ...fields } })
    }
    function foreign(lines: Lines): unknown {
      const run = lines[1]?.run as { messages: object[] } | undefined
      return [{ ...run?.messages[0], run_id: 'run_x' }]
    }

    function withMore(lines: Lines): unknown {
      const run = lines[1]?.run as { messages: object[] } | undefined
      return run?.messages.map((message) => ({ ...message, more: 1 }))
    }
    function withFile(lines: Lines, fields: object, message?: object): unknown {
      const run = lines[1]?.run as { messages: object[] } | undefined
      return [{ ...(message ?? run?.messages[0]), parts: [{ type: 'file', media_type: 'a/b', ...fields }] }]
    }

    it.each(edited)('%s', async (_, line, words, edit) => {
      const lines: Lines = (await exported('one'))
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text))
      await server.call('DELETE', '/api/v1/sessions/one')
      const result = edit(lines)
      const text = typeof result === 'string' ? result : (result as Lines).map((one) => JSON.stringify(one)).join('\n')
      const answer = await load(text)
      expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request'])
      expect(answer.body.error.message).toMatch(words)
      expect(answer.body.error.message).toMatch(new RegExp(`^Line ${line}: `))
      expect((await server.call('GET', '/api/v1/sessions')).body.count).toBe(0)
      expect((await server.call('GET', '/api/v1/runs')).body.count).toBe(0)
    })

    it('another type, and a session that is not there', async () => {
      const typed = await server.call('POST', '/api/v1/sessions/import', {})
      expect([typed.status, typed.body.error.code]).toEqual([415, 'unsupported_media_type'])
      expect((await server.call('GET', '/api/v1/sessions/none/export?events=x')).body.error.code).toBe(
        'session_not_found',
      )
      expect((await server.call('GET', '/api/v1/sessions/one/export?events=x')).status).toBe(400)
    })
  })

  it('prunes what has not changed since a time, but nothing under way', async () => {
    const running = { session_id: 'busy', input: 'wait', background: true }
    await server.call('POST', '/api/v1/sessions', { session_id: 'busy' })
    await server.call('POST', '/api/v1/agents/talk/run', running)
    await server.call('POST', '/api/v1/sessions', { session_id: 'other', agent_id: 'x' })
    const prune = (body: object) => server.call('POST', '/api/v1/sessions/prune', body)
    const future = '2999-01-01T00:00:00.000Z'
    expect((await prune({ updated_before: '2000-01-01T00:00:00.000Z' })).body).toEqual({ deleted: 0, has_more: false })
    expect((await prune({ updated_before: future, agent_id: 'x' })).body).toEqual({ deleted: 1, has_more: false })
    expect((await prune({ updated_before: future })).body).toEqual({ deleted: 1, has_more: false })
    const listed = await server.call('GET', `/api/v1/sessions?updated_before=${future}`)
    expect(listed.body.sessions.map((one: { session_id: string }) => one.session_id)).toEqual(['busy'])
    expect((await prune({})).body.error.details[0].path).toBe('updated_before')
    expect((await prune({ updated_before: '30d' })).body.error.message).toMatch(/must be a time/)
    expect((await server.call('GET', '/api/v1/sessions?updated_before=yesterday')).status).toBe(400)
  })
})
