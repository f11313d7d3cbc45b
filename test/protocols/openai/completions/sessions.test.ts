import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../../src/runnables/agent/agent.ts'
import { runContext } from '../../../../src/runnables/base/run-context.ts'
import { tool } from '../../../../src/runnables/tools/tool.ts'
import { scriptedModel } from '../../../../src/testing/scripted-model.ts'
import { type Any, assistant, type Completions, openCompletions, user } from './support.ts'

/** An agent that keeps a secret in the state of each session, and has it in its prompt in each turn, as what a tool gave. */
function keeper() {
  let count = 0
  const recall = tool({
    inputSchema: z.object({}),
    execute: () => {
      const { state } = runContext<{ secret?: string }>()
      state.secret ??= `secret-${++count}-of-its-session`
      return { secret: state.secret }
    },
  })
  const model = scriptedModel(({ prompt }) =>
    prompt.at(-1)?.role === 'tool' ? 'Noted.' : { tool_calls: [{ name: 'recall', input: {} }] },
  )
  const entity = agent({ model, tools: { recall } })
  /** In all prompts from the call at `from` on. */
  const secretsSince = (from: number) => [
    ...new Set(JSON.stringify(model.calls.slice(from).map(({ prompt }) => prompt)).match(/secret-\d+-of-its-session/g)),
  ]
  return { entity, model, secretsSince }
}

const turns = (...texts: string[]) => texts.map((text, place) => (place % 2 === 0 ? user(text) : assistant(text)))

const sessionOf = ({ headers }: { headers: Record<string, string> }) => headers['x-session-id'] as string

describe('a named session', () => {
  test('is created, and its record is the history, whatever is posted', async () => {
    const { entity, model } = keeper()
    const { complete, get } = await openCompletions({ docs: entity })
    const ask = (...messages: object[]) => complete({ model: 'docs', messages }, { 'x-session-id': 'mine' })
    expect(sessionOf(await ask({ role: 'system', content: 'Be short.' }, user('one')))).toBe('mine')
    const messages = [user('made up'), assistant('also made up'), user('two'), user('and three')]
    expect((await ask(...messages)).content).toBe('Noted.')
    const prompt = JSON.stringify(model.calls.at(-1)?.prompt)
    expect(prompt).toContain('one')
    expect(prompt).not.toContain('made up')
    expect(prompt).not.toContain('Be short.')
    const { messages: recorded } = await get('/sessions/mine/history')
    expect(recorded.map(({ content }: Any) => content)).toEqual(['one', 'Noted.', 'twoand three', 'Noted.'])
  })

  test('is that of the first name in this order: header, Open WebUI, metadata', async () => {
    const { complete } = await openCompletions()
    const ask = async (headers: Record<string, string>, more: object = {}) =>
      sessionOf(await complete({ model: 'echo', messages: [user('x')], ...more }, headers))
    const metadata = { metadata: { session_id: 'in-metadata' } }
    const both = { 'x-openwebui-chat-id': 'in-webui', 'x-session-id': 'in-header' }
    expect(await ask(both, metadata)).toBe('in-header')
    expect(await ask({ 'x-openwebui-chat-id': 'in-webui', 'x-session-id': '' }, metadata)).toBe('in-webui')
    expect(await ask({}, metadata)).toBe('in-metadata')
    expect(await ask({}, { user: 'ann' })).toMatch(/^ses_/)
  })

  test.each(['x-session-id', 'x-openwebui-chat-id'])('has a sound name in %s', async (name) => {
    const { complete } = await openCompletions()
    const { status, body } = await complete({ model: 'echo', messages: [user('x')] }, { [name]: '{{unresolved}}' })
    expect([status, body.error.param.toLowerCase()]).toEqual([400, name])
  })

  test('is that of the user where the server says so', async () => {
    const { complete, get } = await openCompletions({}, { sessionFromUser: true })
    for (const text of ['one', 'two']) await complete({ model: 'echo', messages: [user(text)], user: 'agent:main' })
    expect((await get('/sessions/agent:main/history')).messages).toHaveLength(4)
    const { status, body } = await complete({ model: 'echo', messages: [user('x')], user: 'no name!' })
    expect([status, body.error.param]).toEqual([400, 'user'])
  })

  test('has no turn of what Open WebUI asks for itself', async () => {
    const { complete, get } = await openCompletions()
    const headers = { 'x-openwebui-chat-id': 'chat' }
    await complete({ model: 'echo', messages: [user('hello')] }, headers)
    const title = user('### Task:\nGenerate a title for: hello')
    const answer = await complete({ model: 'echo', messages: [title] }, headers)
    expect([answer.status, answer.content]).toEqual([200, title.content])
    expect(sessionOf(answer)).not.toBe('chat')
    expect((await get('/sessions/chat/history')).messages).toHaveLength(2)
    // A person may write so.
    const own = await complete({ model: 'echo', messages: [title] }, { 'x-session-id': 'chat' })
    expect(sessionOf(own)).toBe('chat')
  })
})

describe('a conversation without a name', () => {
  const say = (server: Completions, person: string | undefined, ...texts: string[]) =>
    server.complete({ model: 'docs', messages: turns(...texts), ...(person && { user: person }) })

  test('goes on in its session for a person who is told, and else brings its history', async () => {
    const { entity, model, secretsSince } = keeper()
    const server = await openCompletions({ docs: entity })
    const first = await say(server, 'ann', 'hello')
    const second = await say(server, 'ann', 'hello', 'Noted.', 'again')
    const third = await say(server, 'ann', 'hello', 'Noted.', 'again', 'Noted.\n', 'more')
    expect([sessionOf(second), sessionOf(third)]).toEqual([sessionOf(first), sessionOf(first)])
    expect(secretsSince(0)).toEqual(['secret-1-of-its-session'])
    const { length } = model.calls
    const nobody = await say(server, undefined, 'hello', 'Noted.', 'again')
    expect(sessionOf(nobody)).not.toBe(sessionOf(first))
    expect(secretsSince(length)).toEqual(['secret-2-of-its-session'])
    expect(JSON.stringify(model.calls.at(-1)?.prompt)).toContain('Noted.')
    // What it brought is not in the record, so the next turn brings it again.
    const brought = await say(server, 'bob', 'hello', 'Noted.', 'again')
    const next = await say(server, 'bob', 'hello', 'Noted.', 'again', 'Noted.', 'more')
    expect(sessionOf(next)).not.toBe(sessionOf(brought))
    expect(JSON.stringify(model.calls.at(-1)?.prompt)).toMatch(/hello.*Noted.*again.*Noted.*more/)
  })

  test.each([
    ['the first person goes on first', ['ann', 'bob']],
    ['the second person goes on first', ['bob', 'ann']],
  ])('never tells another person anything: %s', async (_name, order) => {
    const { entity, model, secretsSince } = keeper()
    const server = await openCompletions({ docs: entity })
    const own = new Map<string, { session: string; secret: string }>()
    const ask = async (person: string, ...texts: string[]) => {
      const before = model.calls.length
      const answer = await say(server, person, ...texts)
      return { session: sessionOf(answer), secrets: secretsSince(before) }
    }
    for (const person of ['ann', 'bob']) {
      const { session, secrets } = await ask(person, 'hello')
      own.set(person, { session, secret: secrets[0] as string })
      expect(secrets).toHaveLength(1)
    }
    const said = ['hello']
    for (const text of ['again', 'hello', 'more']) {
      said.push('Noted.', text)
      for (const person of order) {
        const { session, secret } = own.get(person) as { session: string; secret: string }
        expect([person, await ask(person, ...said)]).toEqual([person, { session, secrets: [secret] }])
      }
    }
    expect(own.get('ann')?.secret).not.toBe(own.get('bob')?.secret)
  })

  test('does not go on for another model, with other instructions, or for another person', async () => {
    const { entity } = keeper()
    const server = await openCompletions({ docs: entity, other: entity })
    const first = await say(server, 'ann', 'hello')
    const messages = turns('hello', 'Noted.', 'again')
    const other = await server.complete({ model: 'other', messages, user: 'ann' })
    const system = { role: 'system', content: 'Be short.' }
    const told = await server.complete({ model: 'docs', messages: [system, ...messages], user: 'ann' })
    const called = await server.complete({ model: 'docs', messages, user: 'ann ' })
    const sessions = new Set([first, other, told, called].map(sessionOf))
    expect(sessions.size).toBe(4)
  })

  test('does not go on in a session that has other turns', async () => {
    const { entity } = keeper()
    const server = await openCompletions({ docs: entity })
    const first = await say(server, 'ann', 'hello')
    const body = { input: 'between', session_id: sessionOf(first) }
    expect((await server.call('POST', '/api/v1/agents/docs/run', body)).status).toBe(200)
    expect(sessionOf(await say(server, 'ann', 'hello', 'Noted.', 'again'))).not.toBe(sessionOf(first))
  })

  test('does not go on when two of the same person are equal, until one of them has gone on', async () => {
    const { entity } = keeper()
    const server = await openCompletions({ docs: entity })
    const first = sessionOf(await say(server, 'ann', 'hello'))
    const second = sessionOf(await say(server, 'ann', 'hello'))
    const brought = sessionOf(await say(server, 'ann', 'hello', 'Noted.', 'again'))
    expect(new Set([first, second, brought]).size).toBe(3)
    await server.call('POST', '/api/v1/agents/docs/run', { input: 'between', session_id: first })
    expect(sessionOf(await say(server, 'ann', 'hello', 'Noted.', 'again'))).toBe(second)
  })

  test('goes on once when it is sent twice at once', async () => {
    const server = await openCompletions()
    const ask = (...texts: string[]) => server.complete({ model: 'echo', messages: turns(...texts), user: 'ann' })
    const first = sessionOf(await ask('hello'))
    const both = await Promise.all([ask('hello', 'hello', 'one'), ask('hello', 'hello', 'one')])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect((await server.get(`/sessions/${first}/history`)).messages.length).toBeLessThanOrEqual(4)
  })

  test('is the same without what clients take from answers or add to them', async () => {
    const server = await openCompletions()
    const ask = (...texts: string[]) => server.complete({ model: 'echo', messages: turns(...texts), user: 'ann' })
    const text = '<think>Hm.</think>\n<details type="reasoning">x</details>Four.'
    const first = sessionOf(await ask(text))
    expect(sessionOf(await ask(text, 'Four. ', 'next'))).toBe(first)
  })

  test('goes on after a stream, whose end can be followed at once', async () => {
    const server = await openCompletions()
    const { headers } = await server.stream({ model: 'echo', messages: turns('hello'), user: 'ann' })
    const next = await server.complete({ model: 'echo', messages: turns('hello', 'hello', 'next'), user: 'ann' })
    expect(sessionOf(next)).toBe(headers['x-session-id'])
  })
})

test('a history has what tools were called and gave, and sound ids only find their own runs', async () => {
  const { entity, model } = keeper()
  const { complete } = await openCompletions({ docs: entity })
  const call = { id: 'call_1', type: 'function', function: { name: 'pick', arguments: '{"of":2}' } }
  const answer = await complete({
    model: 'docs',
    messages: [user('pick'), assistant(null, [call]), { role: 'tool', tool_call_id: 'call_1', content: 'the red one' }],
  })
  expect([answer.status, answer.content]).toEqual([200, 'Noted.'])
  const prompt = JSON.stringify(model.calls.at(-1)?.prompt)
  expect(prompt).toMatch(/pick.*the red one/)
})
