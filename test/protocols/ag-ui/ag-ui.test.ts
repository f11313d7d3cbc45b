import { describe, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { runnable } from '../../support/services.ts'
import { type Any, input, openAgUi, user } from './support.ts'

const recall = agent({
  async *run({ text, parts, history, instructions }) {
    const before = (await history()).map(({ role, content }) => `${role}: ${content}`)
    const files = parts.flatMap((part) =>
      part.type === 'file' ? [`${part.media_type} ${part.name ?? '-'} ${part.size}`] : [],
    )
    yield JSON.stringify({ text, files, before, instructions })
  },
})
const counting = runnable(async function* (_, context) {
  const state = context.state as { count?: number }
  state.count = (state.count ?? 0) + 1
  yield `${state.count}`
})
const said = (events: readonly Any[]) =>
  events.flatMap(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? [delta] : [])).join('')
const heard = (events: readonly Any[]) => JSON.parse(said(events))

describe('POST /ag-ui/{agent}', () => {
  test('streams the answer of a run, and the thread has the same messages', async () => {
    const server = await openAgUi()
    const { status, headers, events, text } = await server.post('echo', input('t1', 'r1', [user('u1', 'hello you')]))
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-session-id': 't1' })
    const run_id = headers['x-run-id'] ?? ''
    const messageId = `msg_${run_id.slice(4)}_2`
    expect(events).toEqual([
      { type: 'RUN_STARTED', threadId: 't1', runId: 'r1', protocolVersion: '1.0' },
      { type: 'CUSTOM', name: 'agentserve.run', value: { run_id, session_id: 't1', agent_id: 'echo' } },
      { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: 'hello ' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: 'you' },
      { type: 'TEXT_MESSAGE_END', messageId },
      { type: 'RUN_FINISHED', threadId: 't1', runId: 'r1', outcome: { type: 'success' } },
    ])
    expect(text).not.toMatch(/^(?:id|event):/m)
    const thread = await server.thread('echo', 't1')
    expect(thread.events).toEqual([
      { type: 'RUN_STARTED', threadId: 't1', runId: 'r1', protocolVersion: '1.0' },
      { type: 'CUSTOM', name: 'agentserve.run', value: { run_id, session_id: 't1', agent_id: 'echo' } },
      {
        type: 'MESSAGES_SNAPSHOT',
        messages: [
          { id: 'u1', role: 'user', content: 'hello you' },
          { id: messageId, role: 'assistant', content: 'hello you' },
        ],
      },
      { type: 'RUN_FINISHED', threadId: 't1', runId: 'r1', outcome: { type: 'success' } },
    ])
    expect((await server.thread('echo', 't1', '?runId=mine')).events[0]?.runId).toBe('mine')
  })

  test('of the conversation only the new messages of the user are input', async () => {
    const server = await openAgUi({ recall })
    const first = await server.post('recall', input('t1', 'r1', [user('u1', 'one')]))
    const answer = {
      id: `msg_${first.headers['x-run-id']?.slice(4)}_2`,
      role: 'assistant',
      content: said(first.events),
    }
    const reasoning = { id: 'x', role: 'reasoning', content: 'hm' }
    const messages = [user('u1', 'one'), answer, reasoning, user('u2', 'two'), user('u3', 'three')]
    const { events } = await server.post('recall', input('t1', 'r2', messages))
    expect(heard(events)).toMatchObject({
      text: 'twothree',
      before: ['user: one', expect.stringMatching(/^assistant: /)],
    })
    const thread = await server.thread('recall', 't1')
    expect(thread.messages.map(({ id, role }) => [id, role])).toEqual([
      ['u1', 'user'],
      [answer.id, 'assistant'],
      ['u3', 'user'],
      [expect.stringMatching(/^msg_/), 'assistant'],
    ])
  })

  test('joins the run that comes again under its name, at the same time and later', async () => {
    const server = await openAgUi()
    const body = input('t1', 'r1', [user('u1', 'wait')])
    const [first, second] = await Promise.all([server.open('gated', body), server.open('gated', body)])
    expect(second?.headers['x-run-id']).toBe(first?.headers['x-run-id'])
    server.gate.open(0)
    const whole = await first?.text()
    expect(await second?.text()).toBe(whole)
    expect((await server.post('gated', body)).text).toBe(whole)
    const other = await server.post('gated', input('t1', 'r1', [user('u2', 'something else')]))
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_mismatch'])
    const partly = [user('u1', 'wait'), { id: 'half', role: 'assistant', content: 'a' }]
    expect((await server.post('gated', input('t1', 'r1', partly))).text).toBe(whole)
  })

  test('two messages at once are answered one after the other', async () => {
    const server = await openAgUi()
    const first = await server.open('gated', input('t1', 'r1', [user('u1', 'one')]))
    const second = server.open('gated', input('t1', 'r2', [user('u2', 'two')]))
    await server.gate.begun(0)
    server.gate.open(0)
    server.gate.open(1)
    for (const stream of [first, await second]) expect(await stream.text()).toContain('"outcome":{"type":"success"}')
    expect((await server.thread('gated', 't1')).messages.map(({ role }) => role).join(' ')).toBe(
      'user assistant user assistant',
    )
  })

  test('a message that comes again under another name is answered anew, also an earlier or edited one', async () => {
    const server = await openAgUi({ recall })
    const post = (runId: string, ...messages: object[]) => server.post('recall', input('t1', runId, messages))
    const answerOf = ({ headers, events }: Any) => ({
      id: `msg_${headers['x-run-id'].slice(4)}_2`,
      role: 'assistant',
      content: said(events),
    })
    const one = answerOf(await post('r1', user('u1', 'one')))
    const again = answerOf(await post('r2', user('u1', 'one')))
    expect((await server.thread('recall', 't1')).messages.map(({ id }) => id)).toEqual(['u1', again.id])
    expect(one.id).not.toBe(again.id)
    const two = answerOf(await post('r3', user('u1', 'one'), again, user('u2', 'two')))
    await post('r4', user('u1', 'one'), again, user('u2', 'two'), two, user('u3', 'three'))
    const edited = await post('r5', user('u1', 'one'), again, user('u2', 'other'))
    expect(heard(edited.events)).toMatchObject({ text: 'other', before: ['user: one', expect.any(String)] })
    const { messages } = await server.thread('recall', 't1')
    expect(messages.map(({ id, content }) => (id.startsWith('u') ? content : id))).toEqual([
      'one',
      again.id,
      'other',
      answerOf(edited).id,
    ])
  })

  test('a message that came to no answer is not said again with the next one', async () => {
    const silent = runnable(async function* ({ text }) {
      if (text !== '') throw new Error('no luck')
      yield 'nothing'
    })
    const server = await openAgUi({ recall, silent })
    const [one, two, three] = [user('u1', 'one'), user('u2', 'two'), user('u3', 'three')]
    await server.post('silent', input('t1', 'r1', [one]))
    await server.post('silent', input('t1', 'r2', [one, two]))
    const again = await server.post('recall', input('t1', 'r3', [one, two]))
    expect(heard(again.events)).toMatchObject({ text: 'two', before: ['user: one'] })
    await server.post('silent', input('t3', 'r1', [one]))
    await server.post('silent', input('t3', 'r2', [one, two]))
    const next = await server.post('recall', input('t3', 'r3', [one, two, three]))
    expect(heard(next.events)).toMatchObject({ text: 'three', before: ['user: one', 'user: two'] })
    const both = await server.post('recall', input('t2', 'r1', [one, two]))
    expect(heard(both.events).text).toBe('onetwo')
    expect(heard((await server.post('recall', input('t2', 'r2', [one, two]))).events).text).toBe('onetwo')
  })

  test('a thread that is new here is told what its client remembers', async () => {
    const server = await openAgUi({ recall })
    const greeting = { id: 'hi', role: 'assistant', content: 'How can I help?' }
    const called = {
      id: 'a1',
      role: 'assistant',
      toolCalls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }],
    }
    const outcome = { id: 't1', role: 'tool', toolCallId: 'c', content: 'seen' }
    const messages = [greeting, user('u1', 'look'), called, outcome, user('u2', 'And?')]
    const first = await server.post('recall', input('t1', 'r1', messages))
    expect(heard(first.events).before).toEqual([
      'assistant: How can I help?',
      'user: look',
      expect.stringContaining('look'),
      expect.stringContaining('seen'),
    ])
    const answer = { id: `msg_${first.headers['x-run-id']?.slice(4)}_2`, role: 'assistant', content: 'Seen.' }
    const next = await server.post('recall', input('t1', 'r2', [...messages, answer, user('u3', 'Well?')]))
    expect(heard(next.events).before).toHaveLength(6)
  })

  test('the context and messages of the system are instructions', async () => {
    const model = scriptedModel(({ prompt }) => JSON.stringify(prompt.filter(({ role }) => role === 'system')))
    const server = await openAgUi({ helper: agent({ model, instructions: 'Be kind.' }) })
    const system = { id: 's', role: 'system', content: 'Be short.' }
    const context = [{ description: 'The page', value: '{"title":"Home"}' }]
    const { events } = await server.post('helper', input('t1', 'r1', [system, user('u1', 'hi')], { context }))
    for (const text of ['Be kind.', 'Be short.', 'The page', 'Home']) expect(said(events)).toContain(text)
  })

  test('the state is merged into that of the session, and told when the run begins and has changed it', async () => {
    const server = await openAgUi({ counting })
    const first = await server.post('counting', input('t1', 'r1', [user('u1', 'go')], { state: { theme: 'dark' } }))
    const snapshots = ({ events }: Any) =>
      events.flatMap(({ type, snapshot }: Any) => (type === 'STATE_SNAPSHOT' ? [snapshot] : []))
    expect(snapshots(first).at(-1)).toEqual({ theme: 'dark', count: 1 })
    expect(first.events.at(-1)?.type).toBe('RUN_FINISHED')
    const next = await server.post('counting', input('t1', 'r2', [user('u2', 'go')], { state: { count: 5 } }))
    expect(snapshots(next).at(-1)).toEqual({ theme: 'dark', count: 6 })
    expect(snapshots(await server.thread('counting', 't1'))).toEqual([{ theme: 'dark', count: 6 }])
    expect((await server.call('GET', '/sessions/t1')).body.state).toEqual({ theme: 'dark', count: 6 })
    const plain = await server.post('echo', input('t2', 'r1', [user('u1', 'hi')]))
    expect(snapshots(plain)).toEqual([])
  })

  test('the state that is told again of an earlier run is that of the run, not of later ones', async () => {
    const server = await openAgUi({ counting })
    const snapshots = ({ events }: Any) =>
      events.flatMap(({ type, snapshot }: Any) => (type === 'STATE_SNAPSHOT' ? [snapshot] : []))
    const first = () => server.post('counting', input('t1', 'r1', [user('u1', 'go')], { state: { theme: 'dark' } }))
    const told = await first()
    expect(snapshots(told)).toEqual([{ theme: 'dark' }, { theme: 'dark', count: 1 }])
    await server.post('counting', input('t1', 'r2', [user('u2', 'go')], { state: { theme: 'light' } }))
    await server.call('PUT', '/sessions/t1', { state: { count: 40 } })
    const again = await first()
    expect([again.headers['x-run-id'], again.text]).toEqual([told.headers['x-run-id'], told.text])
    const last = await server.post('counting', input('t1', 'r3', [user('u3', 'go')]))
    expect(snapshots(last)).toEqual([{ count: 40 }, { count: 41 }])
  })

  test('what the client forwards is kept, and our own options are read', async () => {
    const server = await openAgUi()
    const agentserve = { user_id: 'ann', metadata: { shop: 7 } }
    const forwardedProps = { command: { a: 1 }, agentserve }
    const { headers } = await server.post('echo', input('t1', 'r1', [user('u1', 'hi')], { forwardedProps }))
    const { metadata } = (await server.call('GET', `/runs/${headers['x-run-id']}`)).body
    expect(metadata).toEqual({ shop: 7, ag_ui: { command: { a: 1 } } })
    expect((await server.call('GET', '/sessions/t1')).body.user_id).toBe('ann')
  })

  test('files come as parts of 1.0 and of earlier versions, and go back by their address', async () => {
    const server = await openAgUi({ recall })
    const data = btoa('PNG')
    const content = [
      { type: 'text', text: 'Look' },
      { type: 'image', source: { type: 'data', value: data, mimeType: 'image/png' }, metadata: { filename: 'a.png' } },
      { type: 'binary', mimeType: 'application/pdf', data, filename: 'b.pdf' },
      { type: 'document', source: { type: 'data', value: btoa('plain'), mimeType: 'text/plain' } },
    ]
    const { events } = await server.post('recall', input('t1', 'r1', [user('u1', content)]))
    expect(heard(events)).toMatchObject({
      text: 'Lookplain',
      files: ['image/png a.png 3', 'application/pdf b.pdf 3'],
    })
    const { messages } = await server.thread('recall', 't1')
    const kept = messages[0].content
    const value = expect.stringMatching(/^\/api\/v1\/sessions\/t1\/files\/file_/)
    expect(kept.slice(1, 3)).toEqual([
      { type: 'image', source: { type: 'url', value, mimeType: 'image/png' }, metadata: { filename: 'a.png' } },
      {
        type: 'document',
        source: { type: 'url', value, mimeType: 'application/pdf' },
        metadata: { filename: 'b.pdf' },
      },
    ])
    const again = await server.post('recall', input('t1', 'r2', [user('u1', kept)]))
    expect(heard(again.events)).toEqual(heard(events))
    const many = await server.post(
      'recall',
      input('t2', 'r1', [
        user(
          'u1',
          [1, 2, 3, 4].map(() => content[1]),
        ),
      ]),
    )
    expect([many.status, many.body.error.message]).toEqual([400, expect.stringContaining('run.files')])
  })
})

describe('a client that leaves', () => {
  test.each([
    ['ends its run', {}, true],
    ['ends it as 1.0 says it', { on_disconnect: 'cancel' }, true],
    ['lets it go on if it said so', { on_disconnect: 'continue' }, false],
  ])('%s', async (_what, agentserve, isEnded) => {
    const server = await openAgUi()
    const leaving = new AbortController()
    const body = input('t1', 'r1', [user('u1', 'go')], { forwardedProps: { agentserve } })
    const { headers } = await server.open('gated', body, leaving.signal)
    const { signal } = await server.gate.begun(0)
    leaving.abort()
    if (isEnded) {
      await expect.poll(() => server.timers.size).toBe(1)
      server.timers.advance(2_000)
      await expect.poll(() => signal.aborted).toBe(true)
    }
    server.gate.open(0)
    const status = async () => (await server.call('GET', `/runs/${headers['x-run-id']}`)).body.status
    await expect.poll(status).toBe(isEnded ? 'cancelled' : 'completed')
  })

  test('leaves the run to another reader, and finds it again', async () => {
    const server = await openAgUi()
    const leaving = new AbortController()
    const body = input('t1', 'r1', [user('u1', 'go')])
    await server.open('gated', body, leaving.signal)
    await server.gate.begun(0)
    const second = await server.open('gated', body)
    leaving.abort()
    server.gate.open(0)
    expect(await second.text()).toContain('"outcome":{"type":"success"}')
  })
})

describe('what can not be run', () => {
  test.each<[string, Any, number, RegExp]>([
    ['no object', [], 400, /JSON object/],
    ['no thread', input('', 'r', [user('u', 'x')]), 400, /threadId/],
    ['a thread of another form', input('a b', 'r', [user('u', 'x')]), 400, /threadId/],
    ['no run', input('t', '', [user('u', 'x')]), 400, /runId/],
    ['a run that no store can keep', input('t', 'r\0', [user('u', 'x')]), 400, /runId/],
    ['no messages', { threadId: 't', runId: 'r' }, 400, /messages/],
    ['empty messages', input('t', 'r', []), 400, /messages/],
    ['an answer at the end', input('t', 'r', [{ id: 'a', role: 'assistant', content: 'x' }]), 400, /messages/],
    ['a message without id', input('t', 'r', [{ role: 'user', content: 'x' }]), 400, /messages\.0\.id/],
    ['a message without content', input('t', 'r', [user('u', '')]), 400, /content/],
    ['content of another type', input('t', 'r', [user('u', 7)]), 400, /messages\.0\.content/],
    ['a part of another type', input('t', 'r', [user('u', [{ type: 'odd' }])]), 400, /'odd'/],
    [
      'a file of a provider',
      input('t', 'r', [user('u', [{ type: 'image', source: { type: 'file', value: 'file-1' } }])]),
      400,
      /provider/,
    ],
    [
      'an address of this machine',
      input('t', 'r', [user('u', [{ type: 'image', source: { type: 'url', value: 'file:///etc/passwd' } }])]),
      400,
      /http/,
    ],
    ['a state that is no object', input('t', 'r', [user('u', 'x')], { state: [1] }), 400, /state/],
    ['a tool without a name', input('t', 'r', [user('u', 'x')], { tools: [{}] }), 400, /tools\.0\.name/],
    [
      'a tool without a schema',
      input('t', 'r', [user('u', 'x')], { tools: [{ name: 'a', parameters: 1 }] }),
      400,
      /tools/,
    ],
    ['a context of another form', input('t', 'r', [user('u', 'x')], { context: [1] }), 400, /context\.0/],
    [
      'an answer of another form',
      input('t', 'r', [user('u', 'x')], { resume: [{ interruptId: 'a' }] }),
      400,
      /resume\.0/,
    ],
    [
      'options of another form',
      input('t', 'r', [user('u', 'x')], { forwardedProps: { agentserve: { on_disconnect: 'maybe' } } }),
      400,
      /on_disconnect/,
    ],
  ])('%s is refused', async (_what, body, status, message) => {
    const server = await openAgUi()
    const answer = await server.post('echo', body)
    expect([answer.status, answer.body.error.message]).toEqual([status, expect.stringMatching(message)])
    expect((await server.call('GET', '/runs')).body.count).toBe(0)
  })

  test('an agent that is not there is 404 before the body is read, and so is its thread', async () => {
    const server = await openAgUi()
    expect((await server.post('nobody', {})).body.error.code).toBe('agent_not_found')
    expect((await server.thread('nobody', 't')).body.error.code).toBe('agent_not_found')
    for (const threadId of ['unknown', 'a%20b']) {
      expect((await server.thread('echo', threadId)).body.error.code).toBe('session_not_found')
    }
  })

  test('null counts as absent, and fields that are not known are ignored', async () => {
    const server = await openAgUi()
    const nothing = {
      protocolVersion: null,
      state: null,
      tools: null,
      context: null,
      forwardedProps: null,
      resume: null,
    }
    const message = { ...user('u1', 'hi'), name: null, odd: 1 }
    const { events } = await server.post(
      'echo',
      input('t1', 'r1', [message], { ...nothing, parentRunId: null, odd: 1 }),
    )
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
  })

  test('a run that fails ends its stream with the reason, and the next message is answered', async () => {
    const server = await openAgUi()
    const { status, events } = await server.post('failing', input('t1', 'r1', [user('u1', 'go')]))
    expect([status, events.at(-1)]).toEqual([
      200,
      { type: 'RUN_ERROR', message: expect.stringContaining('The agent threw an error'), code: 'run_failed' },
    ])
    expect((await server.thread('failing', 't1')).messages.at(-1)).toMatchObject({
      role: 'assistant',
      content: 'so far ',
    })
    expect((await server.thread('failing', 't1')).end?.type).toBe('RUN_FINISHED')
  })

  test('tools that an agent can not be offered are ignored, and said to be', async () => {
    const server = await openAgUi()
    const tools = [{ name: 'pick', description: '', parameters: { type: 'object' } }]
    const { status, headers } = await server.post('echo', input('t1', 'r1', [user('u1', 'hi')], { tools }))
    expect([status, headers['x-agentserve-ignored']]).toEqual([200, 'tools'])
  })
})
