import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { type People, withPeople } from '../../api/access/people.ts'

const kilobyte = (letter: string) => letter.repeat(1024)
const fileOf = (content: string, name: string) => ({
  type: 'file' as const,
  media_type: 'text/plain',
  name,
  data: btoa(content),
})

let people: People
beforeAll(async () => {
  const draws = agent({
    *run({ text }) {
      yield 'Here: '
      for (const letter of text) yield fileOf(kilobyte(letter), `${letter}.txt`)
      yield 'done.'
    },
  })
  const copies = agent({
    async *run({ parts }) {
      for (const part of parts) if (part.type === 'file') yield part
    },
  })
  people = await withPeople(['ann', 'bob'], { limits: { fileSize: 2500 } }, { draws, copies })
})
afterAll(() => people.server.close())

let number = 0
function call(method: 'sendMessage' | 'streamMessage', agentId: string, parts: object[], more: object = {}) {
  const message = { messageId: `m${++number}`, role: 'user', agentId, parts, ...more }
  const body = { jsonrpc: '2.0', method, id: '1', params: { message, markData: true } }
  return people.as('ann')('POST', `/api/v1/a2a/${method}`, body)
}
const text = (content: string) => [{ type: 'text', content }]
const filesOf = (parts: { type: string; data?: string }[]) =>
  parts.filter(({ type }) => type === 'data').map(({ data = '' }) => JSON.parse(data))

test('a file of an answer is sent with its content', async () => {
  const { json } = await call('sendMessage', 'draws', text('ab'))
  const { parts } = json.result.task.messages[0]
  expect(parts.map(({ type, content }: { type: string; content?: string }) => content ?? type)).toEqual([
    'Here: ',
    'data',
    'data',
    'done.',
  ])
  const about = { size: 1024, file_id: expect.stringMatching(/^file_/) }
  expect(filesOf(parts)).toEqual([
    { ...fileOf(kilobyte('a'), 'a.txt'), ...about },
    { ...fileOf(kilobyte('b'), 'b.txt'), ...about },
  ])
})

test('the stream has them in their places', async () => {
  const { text: stream } = await call('streamMessage', 'draws', text('abcd'))
  const events = stream
    .split('\n\n')
    .flatMap((frame) => (frame.startsWith('data: ') ? [JSON.parse(frame.slice(6))] : []))
  expect(
    events.map(({ type, content, part }) => (part === 'data' ? atob(JSON.parse(content).data)[0] : (content ?? type))),
  ).toEqual(['Here: ', 'a', 'b', 'c', 'd', 'done.', 'done'])
})

test('an answer has the contents of its latest files, as many as one file may have bytes', async () => {
  const { json } = await call('sendMessage', 'draws', text('abcd'))
  const files = filesOf(json.result.task.messages[0].parts)
  expect(files.map(({ name, data }) => [name, data !== undefined])).toEqual([
    ['a.txt', false],
    ['b.txt', false],
    ['c.txt', true],
    ['d.txt', true],
  ])
  const path = `/api/v1/sessions/${json.result.task.messages[0].contextId}/files/${files[0].file_id}`
  expect((await people.as('ann')('GET', path)).text).toBe(kilobyte('a'))
})

test('what an answer sends can be sent again as it is', async () => {
  const first = await call('sendMessage', 'draws', text('a'))
  const [, part] = first.json.result.task.messages[0].parts
  const second = await call('sendMessage', 'copies', [part])
  const [again] = filesOf(second.json.result.task.messages[0].parts)
  const { file_id: _id, ...sent } = JSON.parse(part.data)
  expect(again).toEqual({ ...sent, file_id: expect.any(String) })
})

test('a repeated message gives the files of its run only to its own user', async () => {
  const messageId = 'the-same'
  const first = await call('sendMessage', 'draws', text('a'), { messageId })
  const again = await call('sendMessage', 'draws', text('a'), { messageId })
  expect(again.text).toBe(first.text)
  const { contextId } = first.json.result.task.messages[0]
  const message = { messageId, role: 'user', agentId: 'draws', parts: text('a'), contextId }
  const body = { jsonrpc: '2.0', method: 'sendMessage', id: '1', params: { message } }
  const other = await people.as('bob')('POST', '/api/v1/a2a/sendMessage', body)
  expect(other.json.error).toMatchObject({ code: -32602, message: expect.stringContaining('session') })
})
