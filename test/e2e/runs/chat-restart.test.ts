import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '../../support/cluster/requests.ts'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

const config = `
import { setTimeout as pause } from 'node:timers/promises'
import { agent, defineConfig, workflow } from 'agentserve'
export default defineConfig({
  agents: {
    endless: agent({
      async *run({ signal }) {
        for (let n = 0; ; n++) {
          yield 'fragment ' + n + '. '
          await pause(5, undefined, { signal })
        }
      },
    }),
  },
  workflows: {
    asks: workflow({ run: async ({ approve }) => 'It is ' + ((await approve('publish', { page: 1 })) ?? 'published.') }),
  },
})
`

let project: Project
let server: RunningServer

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  server = await serve(project, 'start')
})
afterAll(async () => {
  await server?.stop()
  await project?.remove()
})

const user = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'go' }] }
const post = (agent: string, body: object) =>
  fetch(`${server.url}/api/v1/chat/${agent}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const messagesOf = async (agent: string) => (await ask(server.url, `/chat/${agent}/${agent}-1`)).body.messages

async function restart(): Promise<void> {
  await server.kill()
  server = await serve(project, 'start')
}

test('a chat whose server is killed has the answer so far, and can be regenerated', async () => {
  const answer = await post('endless', { id: 'endless-1', messages: [user] })
  let seen = ''
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    seen += piece
    if (seen.includes('fragment 20.')) break
  }
  await restart()
  expect((await ask(server.url, '/chat/endless/endless-1/stream')).status).toBe(204)
  const [, message] = await messagesOf('endless')
  expect(message.id).toBe(/"messageId":"(\w+)"/.exec(seen)?.[1])
  expect(message.metadata.status).toBe('interrupted')
  expect(message.parts[1]).toMatchObject({
    state: 'done',
    text: expect.stringMatching(/^fragment 0\. .*fragment 10\. /),
  })
  const again = await post('endless', { id: 'endless-1', messages: [user], trigger: 'regenerate-message' })
  expect(again.headers.get('x-run-id')).not.toBe(answer.headers.get('x-run-id'))
  expect((await ask(server.url, '/chat/endless/endless-1/stop', { method: 'POST' })).body).toEqual({ success: true })
  expect(await again.text()).toContain('{"type":"abort","reason":"requested"}')
})

test('a card that was open when the server was killed is answered after it', async () => {
  const asked = await (await post('asks', { id: 'asks-1', messages: [user] })).text()
  expect(asked).toContain('"type":"tool-approval-request"')
  const before = await messagesOf('asks')
  await restart()
  expect(await messagesOf('asks')).toEqual(before)
  const [, message] = before
  const card = message.parts.at(-1)
  const decided = { ...card, state: 'approval-responded', approval: { ...card.approval, approved: true } }
  const body = { id: 'asks-1', messages: [user, { ...message, parts: [decided] }] }
  const stream = await (await post('asks', body)).text()
  expect(stream.startsWith(`data: {"type":"start","messageId":"${message.id}"}\n\n`)).toBe(true)
  expect(stream).toContain('It is published.')
  await restart()
  expect(await (await post('asks', body)).text()).toBe(stream)
  const [, after] = await messagesOf('asks')
  expect(after).toMatchObject({ id: message.id, metadata: { status: 'completed' } })
})
