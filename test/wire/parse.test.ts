import { describe, expect, it } from 'vitest'
import { AppError, type ErrorDetail } from '../../src/core/error.ts'
import { ContentRequest, ContentSettings } from '../../src/wire/knowledge.ts'
import { parseBody, parseKnown, parseQuery } from '../../src/wire/parse.ts'
import { ResumeRequest, RunRequest, RunsQuery } from '../../src/wire/run.ts'
import { SearchRequest } from '../../src/wire/search.ts'
import { CreateSessionRequest, ReuseSessionRequest, UpdateSessionRequest } from '../../src/wire/session.ts'
import { SummaryQuery } from '../../src/wire/summary.ts'

function complaint(work: () => unknown): { message: string; details: readonly ErrorDetail[] } {
  try {
    work()
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_request') {
      return { message: error.message, details: error.details }
    }
    throw error
  }
  throw new Error('nothing was refused')
}

const details = (work: () => unknown) => complaint(work).details.map(({ path, message }) => `${path}: ${message}`)

describe('parseBody', () => {
  it('ends a question with one mark', () => {
    const message = complaint(() => parseBody(CreateSessionRequest, { sesion_id: 'a' })).message
    expect(message).toBe('sesion_id is not a field; did you mean session_id?')
  })

  it('refuses an unknown field at every depth, with what may have been meant', () => {
    expect(details(() => parseBody(CreateSessionRequest, { sesion_id: 'a', surprise: 1, x: null }))).toEqual([
      'sesion_id: is not a field; did you mean session_id?',
      'surprise: is not a field; there are session_id, agent_id, team_id, workflow_id, user_id, name, metadata, state',
      'x: is not a field; there are session_id, agent_id, team_id, workflow_id, user_id, name, metadata, state',
    ])
    const file = { type: 'file', mediaType: 'image/png', media_type: 'image/png', data: 'AA==' }
    const history = [{ role: 'user', parts: [{ type: 'text', text: 'a', txt: 'b' }] }]
    const unknown = { input: { parts: [file] }, history, client_tools: [{ name: 'a', parameters: {}, desc: 'b' }] }
    expect(details(() => parseBody(RunRequest, unknown))).toEqual([
      'input.parts.0.mediaType: is not a field; it is called media_type',
      'history.0.parts.0.txt: is not a field; did you mean text?',
      'client_tools.0.desc: is not a field; there are name, description, parameters',
    ])
    expect(details(() => parseBody(ResumeRequest, { answers: { c: { approved: true, resn: 'a' } } }))).toEqual([
      expect.stringMatching(/^answers\.c\.resn: is not a field/),
    ])
    expect(details(() => parseBody(CreateSessionRequest, JSON.parse('{"__proto__":1,"toString":2}')))).toHaveLength(2)
  })

  it('takes any field where an object may hold anything', () => {
    const free = { metadata: { a: { b: 1 } }, state: { c: [{ d: 1 }] } }
    const input = { parts: [{ type: 'data', data: { e: 1 } }] }
    expect(parseBody(RunRequest, { input, ...free, output_schema: { f: 1 } })).toMatchObject(free)
    expect(parseBody(RunRequest, { input: { topic: 'tea', parts: 2 } })).toEqual({ input: { topic: 'tea', parts: 2 } })
  })

  it('takes an absent body as {}, and leaves unknown fields out where that is asked for', () => {
    expect(parseKnown(CreateSessionRequest, { name: 'n', surprise: 1, user_id: null })).toEqual({ name: 'n' })
    expect(parseBody(CreateSessionRequest, undefined)).toEqual({})
  })

  it.each([[null], [[]], ['text'], [1]])('refuses a body that is %j', (body) => {
    expect(complaint(() => parseBody(CreateSessionRequest, body)).message).toBe('The body must be a JSON object.')
  })

  it('names each wrong field', () => {
    expect(details(() => parseBody(RunRequest, { session_id: 1, stream: 'yes', metadata: [] }))).toEqual([
      'input: is required',
      'session_id: must be a string',
      'stream: must be true or false',
      'metadata: must be a JSON object',
    ])
  })

  it('says the path of what is wrong inside parts', () => {
    const parts = (list: unknown) => details(() => parseBody(RunRequest, { input: { parts: list } }))
    expect(parts([{ type: 'text', text: 'a' }, { type: 'image' }])).toEqual([
      'input.parts.1.type: must be text, data or file',
    ])
    expect(parts([{ type: 'text' }])).toEqual(['input.parts.0.text: is required'])
    expect(parts([{ type: 'data' }])).toEqual(['input.parts.0.data: is required'])
    expect(parts([])).toEqual(['input.parts: must not be empty'])
    for (const input of [3, [], ['x'], [{ type: 'text', text: 'a' }], true]) {
      expect(details(() => parseBody(RunRequest, { input }))).toEqual([
        'input: must be text, a JSON object or {"parts": [...]}',
      ])
    }
    expect(details(() => parseBody(RunRequest, { input: '' }))).toEqual(['input: must not be empty'])
  })

  it('keeps null inside a data part', () => {
    const body = { input: { parts: [{ type: 'data', data: null }] } }
    expect(parseBody(RunRequest, body)).toEqual(body)
  })

  it('refuses the camelCase name of a known field and names the right one', () => {
    expect(complaint(() => parseBody(CreateSessionRequest, { agentId: 'a' }))).toEqual({
      message: 'agentId is not a field; it is called agent_id.',
      details: [{ path: 'agentId', message: 'is not a field; it is called agent_id' }],
    })
  })

  it('takes null as absent, and keeps it where it clears', () => {
    expect(parseBody(CreateSessionRequest, { name: null, agent_id: 'a' })).toEqual({ agent_id: 'a' })
    expect(details(() => parseBody(RunRequest, { input: null }))).toEqual(['input: is required'])
    expect(parseBody(UpdateSessionRequest, { name: null, state: null }, { nulls: 'keep' })).toEqual({
      name: null,
      state: null,
    })
  })

  it('says bounds', () => {
    for (const limit of [0, 101, 1.5, '5']) {
      expect(details(() => parseBody(SearchRequest, { query: 'q', limit }))).toEqual([
        'limit: must be an integer from 1 to 100',
      ])
    }
    expect(parseBody(SearchRequest, { query: 'q' }).limit).toBe(10)
  })

  it('holds the rules between fields', () => {
    expect(details(() => parseBody(ReuseSessionRequest, {}))).toEqual([
      ': at least one of agent_id, team_id, workflow_id, user_id is required',
    ])
    expect(details(() => parseBody(ContentRequest, { content: 'c', chunk_size: 10, chunk_overlap: 10 }))).toEqual([
      'chunk_overlap: must be less than chunk_size',
    ])
    expect(details(() => parseBody(ContentRequest, { content: ' \n' }))).toEqual(['content: must not be empty'])
  })

  it('takes filters of values, lists of these and operators', () => {
    const filters = { a: 'x', b: 2, c: true, d: ['x', 3], or: [{ e: { gte: 1 } }, { not: { f: { prefix: 'g' } } }] }
    expect(parseBody(SearchRequest, { query: 'q', filters }).filters).toEqual(filters)
    expect(details(() => parseBody(SearchRequest, { query: 'q', filters: { a: { $ne: 1 } } }))).toEqual([
      "filters.a.$ne: is not an operator (did you mean 'ne'?)",
    ])
  })

  it('takes a session_id of the characters that ids may have', () => {
    for (const session_id of ['a', 'A-Z.0_9:x', 'x'.repeat(128)]) {
      expect(parseBody(CreateSessionRequest, { session_id })).toEqual({ session_id })
    }
    for (const session_id of ['', 'a b', 'ä', 'x'.repeat(129), '../x']) {
      expect(details(() => parseBody(CreateSessionRequest, { session_id }))).toHaveLength(1)
    }
  })
})

describe('parseQuery', () => {
  const runs = (query: string) => parseQuery(RunsQuery, new URLSearchParams(query))

  it('refuses a name that is one letter off a known one, and ignores others', () => {
    expect(details(() => parseQuery(RunsQuery, [['statsu', 'failed']]))).toEqual([
      'statsu: is not a parameter; did you mean status?',
    ])
    expect(
      parseQuery(RunsQuery, [
        ['utm_source', 'x'],
        ['at', '1'],
      ]),
    ).toEqual({ limit: 20 })
  })

  it('reads digits, fills in defaults and leaves out what it does not know', () => {
    expect(runs('limit=7&status=failed&other=1')).toEqual({ limit: 7, status: 'failed' })
    expect(runs('')).toEqual({ limit: 20 })
  })

  it.each(['0', '101', '-1', '1.5', '1e1', '0x5', ' 5', '', '99999999999999999999'])('refuses limit=%s', (limit) => {
    expect(details(() => parseQuery(RunsQuery, new URLSearchParams({ limit })))).toEqual([
      'limit: must be an integer from 1 to 100',
    ])
  })

  it('reads booleans in any case and refuses other words', () => {
    const read = (value: string) => parseQuery(SummaryQuery, new URLSearchParams({ async: value })).async
    expect(['true', 'TRUE', 'True', '1'].map(read)).toEqual([true, true, true, true])
    expect(['false', 'FALSE', '0'].map(read)).toEqual([false, false, false])
    for (const value of ['yes', '', '2', 'truee']) {
      expect(details(() => read(value))).toEqual(['async: must be true or false'])
    }
  })

  it('refuses unknown choices, repeated parameters and camelCase names', () => {
    expect(details(() => runs('status=done'))[0]).toMatch(/^status: must be one of queued, running/)
    expect(details(() => runs('limit=1&limit=2'))).toEqual(['limit: must be given once'])
    expect(details(() => runs('agentId=a'))).toEqual(['agentId: is not a field; it is called agent_id'])
  })

  it('reads an object from JSON text', () => {
    const read = (metadata: string) => parseQuery(ContentSettings, [['metadata', metadata]])
    expect(read('{"a":1}')).toEqual({ metadata: { a: 1 } })
    for (const text of ['{', '[]', '1', '']) {
      expect(details(() => read(text))).toEqual(['metadata: must be a JSON object'])
    }
  })
})
