import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let server: RunningTestServer
beforeAll(async () => {
  const look = agent({ run: ({ parts }) => JSON.stringify(parts) })
  const draws = agent({
    *run() {
      yield { type: 'file', media_type: 'image/png', name: 'a.png', url: 'https://example.com/a.png' }
    },
  })
  server = await startServer({}, { look, draws })
})
afterAll(() => server.close())

let number = 0
function call(method: 'sendMessage' | 'streamMessage', agentId: string, data: unknown) {
  const parts = [{ type: 'data', data: JSON.stringify(data) }]
  const message = { messageId: `m${++number}`, role: 'user', agentId, parts }
  return server.call('POST', `/api/v1/a2a/${method}`, { jsonrpc: '2.0', method, id: '1', params: { message } })
}

const file = { type: 'file', media_type: 'text/plain', name: 'note.txt', data: 'QSBub3RlLgo=' }

test('data that is a file part with its content or address is a file', async () => {
  const { json } = await call('sendMessage', 'look', file)
  const { data: _data, ...kept } = file
  const [part] = JSON.parse(json.result.task.messages[0].parts[0].content)
  expect(part).toEqual({ ...kept, size: 8, file_id: expect.stringMatching(/^file_\w{26}$/) })
  const link = { type: 'file', media_type: 'image/png', url: 'https://example.com/a.png' }
  const linked = await call('sendMessage', 'look', link)
  expect(JSON.parse(linked.json.result.task.messages[0].parts[0].content)).toEqual([link])
})

test.each([
  { type: 'file' },
  { type: 'file', media_type: 'text/plain' },
  { type: 'file', media_type: 1, data: 'QQ==' },
  { type: 'file', media_type: 'text/plain', data: 1 },
  { type: 'text', media_type: 'text/plain', data: 'QQ==' },
  [file],
])('%j is data', async (data) => {
  const { json } = await call('sendMessage', 'look', data)
  expect(JSON.parse(json.result.task.messages[0].parts[0].content)).toEqual([{ type: 'data', data }])
})

test.each([
  [{ ...file, data: 'no base64!' }, 'base64'],
  [{ ...file, data: '' }, 'empty'],
  [{ ...file, name: 5 }, 'name'],
  [{ type: 'file', media_type: 'image/png', url: 'file:///etc/passwd' }, 'http or https'],
])('a file that can not be taken is -32602: %j', async (data, words) => {
  const { json } = await call('sendMessage', 'look', data)
  expect(json.error).toMatchObject({ code: -32602, message: expect.stringContaining(words) })
})

test('a file of an answer is data, also in the stream', async () => {
  const part = { type: 'file', media_type: 'image/png', name: 'a.png', url: 'https://example.com/a.png' }
  const { json } = await call('sendMessage', 'draws', 'go')
  expect(json.result.task.messages[0].parts).toEqual([{ type: 'data', data: JSON.stringify(part) }])
  const { text } = await call('streamMessage', 'draws', 'go')
  expect(text).toContain(`data: ${JSON.stringify({ type: 'content', content: JSON.stringify(part) })}\n\n`)
})
