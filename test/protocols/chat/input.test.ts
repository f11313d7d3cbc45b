import { describe, expect, test } from 'vitest'
import { runnable } from '../../support/services.ts'
import { type Any, openChats, userMessage } from './support.ts'

/** Says the parts of its input, and gives them back as files. */
const look = () =>
  runnable(async function* ({ parts }) {
    yield JSON.stringify(parts)
    for (const part of parts) if (part.type === 'file' && part.url === undefined) yield part
  })
const message = (...parts: unknown[]) => ({ id: 'u1', role: 'user', parts })
const text = { type: 'text', text: 'Look.' }
const png = { type: 'file', mediaType: 'image/png', filename: 'a.png', url: 'data:image/png;base64,iVBORw0KGgo=' }

describe('parts of a message', () => {
  async function seen(...parts: unknown[]) {
    const chats = await openChats({ look: look() })
    const { status, headers, text } = await chats.post('look', { id: 'c1', message: message(...parts) })
    expect([status, text]).toEqual([200, expect.any(String)])
    return (await chats.call('GET', `/runs/${headers['x-run-id']}`)).body.messages[0].parts
  }

  test('are text, data and files; what is no input is left out', async () => {
    expect(
      await seen(text, { type: 'data-place', data: { city: 'Ghent' } }, { type: 'step-start' }, { type: 'new' }),
    ).toEqual([text, { type: 'data', data: { name: 'place', data: { city: 'Ghent' } } }])
    expect(await seen(png)).toEqual([
      { type: 'file', media_type: 'image/png', name: 'a.png', size: 8, file_id: expect.stringMatching(/^file_/) },
    ])
    const link = 'https://example.org/map.png'
    expect(await seen({ type: 'file', mediaType: 'image/png', url: link })).toEqual([
      { type: 'file', media_type: 'image/png', url: link },
    ])
  })

  test('are text when they are text files, however they are written', async () => {
    const file = (mediaType: string | undefined, url: string) => ({ type: 'file', mediaType, url })
    expect(await seen(file('text/plain', 'data:text/plain;base64,w6kh'))).toEqual([{ type: 'text', text: 'é!' }])
    expect(await seen(file('text/csv', 'data:text/csv,a%2Cb'))).toEqual([{ type: 'text', text: 'a,b' }])
    expect(await seen(file(undefined, 'data:,plain'))).toEqual([{ type: 'text', text: 'plain' }])
  })
})

describe('a file of the chat', () => {
  test('is at an address of this server, in the stream and in the reload', async () => {
    const chats = await openChats({ look: look() })
    const { chunks } = await chats.post('look', { id: 'c1', message: message(text, png) })
    const { url, providerMetadata } = chunks.find(({ type }) => type === 'file') as Any
    expect(url).toMatch(/^\/api\/v1\/sessions\/c1\/files\/file_\w{26}$/)
    expect(providerMetadata.agentserve).toMatchObject({ name: 'a.png', size: 8 })
    expect((await chats.call('GET', url.replace('/api/v1', ''))).headers['content-type']).toBe('image/png')
    const [user, answer] = (await chats.reload('look', 'c1')).messages
    expect(user.parts[1]).toEqual({
      type: 'file',
      mediaType: 'image/png',
      filename: 'a.png',
      url: expect.stringContaining('/files/'),
    })
    expect(answer.parts.find(({ type }: Any) => type === 'file').url).toBe(url)
  })

  test('can be posted again as the reload has it: the same message, or with another text', async () => {
    const chats = await openChats({ look: look() })
    const first = await chats.post('look', { id: 'c1', message: message(text, png) })
    const [user] = (await chats.reload('look', 'c1')).messages
    const same = await chats.post('look', { id: 'c1', message: user, messageId: 'u1' })
    expect(same.headers['x-run-id']).toBe(first.headers['x-run-id'])
    const absolute = { ...user.parts[1], url: `http://127.0.0.1:1234${user.parts[1].url}` }
    for (const [file, more] of [
      [user.parts[1], { messageId: 'u1' }],
      [absolute, { trigger: 'regenerate-message' }],
    ] as const) {
      const other = { ...user, parts: [{ type: 'text', text: `Look ${file.url.length}.` }, file] }
      const { chunks } = await chats.post('look', { id: 'c1', message: other, ...more })
      const { url } = chunks.find(({ type }) => type === 'file') as Any
      expect((await chats.call('GET', url.replace('/api/v1', ''))).headers['content-length']).toBe('8')
    }
  })

  test('that is of no chat, or of another one, is refused', async () => {
    const chats = await openChats({ look: look() })
    await chats.post('look', { id: 'c1', message: message(text, png) })
    const [user] = (await chats.reload('look', 'c1')).messages
    const { status } = await chats.post('look', { id: 'c2', message: user })
    expect(status).toBe(400)
    const gone = { ...user.parts[1], url: `/api/v1/sessions/c1/files/file_${'0'.repeat(26)}` }
    const { status: unknown, text: said } = await chats.post('look', {
      id: 'c1',
      message: { ...user, id: 'u9', parts: [gone] },
    })
    expect([unknown, said]).toEqual([400, expect.stringContaining('Send it again.')])
  })
})

test.each<[string, unknown, string]>([
  ['no object', [], 'The body must be a JSON object'],
  ['no JSON', '{"id":', 'The body is not JSON'],
  ['nothing', {}, 'id must be 1 to 128 of'],
  ['an id that is a path', { id: '../x', messages: [] }, 'id must be 1 to 128 of'],
  ['no messages', { id: 'c1' }, 'messages must have at least one message'],
  ['messages that are none', { id: 'c1', messages: 'hello' }, 'messages must be a list.'],
  ['a message that is none', { id: 'c1', messages: [null] }, 'messages must have at least one message'],
  ['a message without an id', { id: 'c1', messages: [{ role: 'user', parts: [] }] }, 'messages.0.id must be a string'],
  ['a long id', { id: 'c1', messages: [{ ...message(text), id: 'x'.repeat(257) }] }, 'messages.0.id must be'],
  ['another role', { id: 'c1', messages: [{ ...message(text), role: 'system' }] }, "messages.0.role must be 'user'"],
  ['an id that no store keeps', { id: 'c1', messages: [{ ...message(text), id: 'a\0' }] }, 'without NUL and half'],
  ['half a character', { id: 'c1', messages: [{ ...message(text), id: '\ud800' }] }, 'without NUL and half'],
  ['too many files', { id: 'c1', message: message(png, png, png, png) }, 'the limit `run.files` is 3'],
  ['no options', { id: 'c1', messages: [message(text)], agentserve: 'x' }, 'agentserve must be a JSON object.'],
  ['no parts', { id: 'c1', messages: [message()] }, 'messages.0.parts has nothing to answer'],
  [
    'parts that are none',
    { id: 'c1', message: { ...message(), parts: 'x' } },
    'message.parts must be a list of parts.',
  ],
  ['a part that is none', { id: 'c1', message: message('x') }, 'message.parts.0 must be a part with a type.'],
  ['text that is none', { id: 'c1', message: message({ type: 'text', text: 1 }) }, 'message.parts.0.text must be'],
  [
    'a file of the disk',
    { id: 'c1', message: message({ ...png, url: 'file:///etc/passwd' }) },
    'must be an http or https',
  ],
  [
    'a file of the page',
    { id: 'c1', message: message({ ...png, url: 'blob:http://a/b' }) },
    'must be an http or https',
  ],
  ['a broken file', { id: 'c1', message: message({ ...png, url: 'data:image/png;base64,%%' }) }, 'must be base64'],
  [
    'a broken address',
    { id: 'c1', message: message({ ...png, url: 'data:image/png,%zz' }) },
    'broken percent-encoding',
  ],
  ['a trigger', { id: 'c1', messages: [message(text)], trigger: 'resume-stream' }, "trigger must be 'submit-message'"],
  ['a wrong option', { id: 'c1', messages: [message(text)], agentserve: { state: 1 } }, 'state'],
  ['a prototype', '{"id":"c1","messages":[{"__proto__":{}}]}', "The key '__proto__' is not allowed."],
  ['depth', `{"id":"c1","messages":${'['.repeat(100)}${']'.repeat(100)}}`, 'nested deeper than'],
])('%s is refused in one sentence of plain text, and starts nothing', async (_what, body, said) => {
  const chats = await openChats()
  const { status, headers, text } = await chats.post('echo', body)
  expect([status, headers['content-type'], headers['x-error-code']]).toEqual([
    400,
    'text/plain; charset=utf-8',
    'invalid_request',
  ])
  expect(text).toContain(said)
  expect((await chats.call('GET', '/sessions')).body.sessions).toEqual([])
})

test('an agent that is not there is told like a chat that is not there', async () => {
  const chats = await openChats()
  for (const [method, path] of [
    ['POST', ''],
    ['GET', '/c1/stream'],
    ['POST', '/c1/stop'],
    ['GET', '/c1'],
  ] as const) {
    const body = method === 'POST' ? { id: 'c1', messages: [userMessage('u1', 'x')] } : undefined
    const answer = await chats.call(method, `/chat/nobody${path}`, body)
    expect([answer.status, answer.headers['x-error-code']]).toEqual([404, 'agent_not_found'])
  }
  const unknown = await chats.call('GET', '/chat/echo/c1')
  expect([unknown.status, unknown.body]).toEqual([404, "There is no session 'c1'."])
})

test('the reload has the latest turns, as many as are asked for', async () => {
  const chats = await openChats()
  for (const id of ['u1', 'u2', 'u3']) await chats.post('echo', { id: 'c1', message: userMessage(id, `say ${id}`) })
  const { messages, has_more } = await chats.reload('echo', 'c1', '?limit=2')
  expect(messages.filter(({ role }: Any) => role === 'user').map(({ id }: Any) => id)).toEqual(['u2', 'u3'])
  expect(has_more).toBe(true)
  expect((await chats.call('GET', '/chat/echo/c1?limit=0')).status).toBe(400)
})

test('the reload of large answers has the latest of them', async () => {
  const large = runnable(async function* () {
    for (let at = 0; at < 9; at++) {
      const id = `call_${at}`
      yield { type: 'tool_call', call_id: id, name: 'read', input: {} } as const
      yield { type: 'tool_result', call_id: id, name: 'read', output: 'x'.repeat(700_000), duration_ms: 1 } as const
    }
  })
  const chats = await openChats({ large })
  const ids = ['u1', 'u2', 'u3', 'u4', 'u5']
  for (const id of ids) await chats.post('large', { id: 'c1', message: userMessage(id, 'x') })
  const { messages, has_more } = await chats.reload('large', 'c1')
  expect(messages.filter(({ role }: Any) => role === 'user').map(({ id }: Any) => id)).toEqual(['u3', 'u4', 'u5'])
  expect(messages.at(-1).parts).toHaveLength(10)
  expect(has_more).toBe(true)
})
