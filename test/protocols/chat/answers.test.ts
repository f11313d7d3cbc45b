import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { type Any, openChats, userMessage } from './support.ts'

const pay = tool({
  inputSchema: z.object({ euros: z.number() }),
  needsApproval: true,
  execute: ({ euros }) => ({ paid: euros }),
})
const twice = { tool_calls: [1, 2].map((euros) => ({ name: 'pay', input: { euros } })) }
const cashier = () => agent({ tools: { pay }, model: scriptedModel(twice, 'Settled.') })
const asks = workflow({
  run: async ({ approve }) => (await approve('publish', { page: 1 })) ?? 'published',
})

/** The assistant message with its open cards answered. */
function decided(message: Any, approved: boolean | Record<string, boolean>, reason?: string): Any {
  return {
    ...message,
    parts: message.parts.map((part: Any) => {
      if (part.state !== 'approval-requested') return part
      const yes = typeof approved === 'boolean' ? approved : approved[part.toolCallId]
      if (yes === undefined) return part
      return { ...part, state: 'approval-responded', approval: { ...part.approval, approved: yes, reason } }
    }),
  }
}
const statesOf = (message: Any) => message.parts.flatMap(({ state, type }: Any) => (state ? [`${type}:${state}`] : []))

describe('approvals', () => {
  async function paused() {
    const chats = await openChats({ cashier: cashier() })
    const user = userMessage('u1', 'pay them')
    const { chunks } = await chats.post('cashier', { id: 'c1', messages: [user] })
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'tool-calls' })
    expect((await chats.call('GET', '/chat/cashier/c1/stream')).status).toBe(204)
    const [, message] = (await chats.reload('cashier', 'c1')).messages
    expect(statesOf(message)).toEqual(['tool-pay:approval-requested', 'tool-pay:approval-requested'])
    const answer = (answered: Any, more: Any = {}) =>
      chats.post('cashier', { id: 'c1', messages: [user, answered, ...(more.later ?? [])], ...more.body })
    return { chats, message, answer }
  }

  test('resume the run in the same message, also when they are sent twice and at the same time', async () => {
    const { chats, message, answer } = await paused()
    const [first, second] = message.parts.flatMap((part: Any) => part.toolCallId ?? [])
    const posted = decided(message, { [first]: true, [second]: false }, 'Enough.')
    const [one, two] = await Promise.all([answer(posted), answer(posted)])
    expect(one.chunks.map(({ type }) => type)).toEqual([
      'start',
      'tool-output-denied',
      'tool-output-available',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ])
    expect(one.chunks[0]).toEqual({ type: 'start', messageId: message.id })
    expect(two.text).toBe(one.text)
    expect((await answer(posted)).text).toBe(one.text)
    const [, reloaded] = (await chats.reload('cashier', 'c1')).messages
    expect(reloaded.parts.filter(({ toolCallId }: Any) => toolCallId)).toEqual([
      expect.objectContaining({
        state: 'output-available',
        approval: { id: first, approved: true, reason: 'Enough.' },
      }),
      expect.objectContaining({ state: 'output-denied', approval: { id: second, approved: false, reason: 'Enough.' } }),
    ])
    const other = await answer(decided(message, true))
    expect([other.status, other.headers['x-error-code']]).toEqual([409, 'conflict'])
  })

  test('are told what is missing when some are answered only', async () => {
    const { message, answer } = await paused()
    const [first] = message.parts.flatMap((part: Any) => part.toolCallId ?? [])
    const { status, text } = await answer(decided(message, { [first]: true }))
    expect([status, text]).toEqual([400, expect.stringContaining('The run is waiting for a decision')])
  })

  test('are found in an earlier message, whose run a client that continues its last one gets whole', async () => {
    const { chats, message, answer } = await paused()
    await chats.post('echo', { id: 'c1', messages: [userMessage('u2', 'meanwhile')] })
    const later = (await chats.reload('cashier', 'c1')).messages.slice(2)
    const { status, chunks } = await answer(decided(message, true), { later })
    expect(status).toBe(200)
    expect(chunks[0]).toMatchObject({ type: 'start', messageId: message.id, messageMetadata: { agentId: 'cashier' } })
    expect(chunks.filter(({ type }) => type === 'tool-input-available')).toHaveLength(2)
  })

  test('by the id of the message, only what is new is sent', async () => {
    const { chats, message, answer } = await paused()
    await chats.post('echo', { id: 'c1', messages: [userMessage('u2', 'meanwhile')] })
    const later = (await chats.reload('cashier', 'c1')).messages.slice(2)
    const { chunks } = await answer(decided(message, true), { later, body: { messageId: message.id } })
    expect(chunks.slice(0, 2).map(({ type }) => type)).toEqual(['start', 'tool-output-available'])
  })

  test('an assistant message without an answer, or with one that nothing asked for, is refused', async () => {
    const { message, answer } = await paused()
    expect((await answer(message)).status).toBe(400)
    const made = { type: 'tool-pay', toolCallId: 'made-up', state: 'approval-responded', approval: { approved: true } }
    expect((await answer({ ...message, parts: [made] })).status).toBe(400)
    // The page can't give the output of a tool of the server.
    const output = { ...message.parts.at(-1), state: 'output-available', output: { paid: 0 } }
    expect((await answer({ ...message, parts: [output] })).status).toBe(400)
  })

  test('of a workflow are a tool part of their own', async () => {
    const chats = await openChats({ asks })
    await chats.post('asks', { id: 'c1', messages: [userMessage('u1', 'go')] })
    const [user, message] = (await chats.reload('asks', 'c1')).messages
    expect(message.parts.at(-1)).toMatchObject({
      type: 'tool-approve',
      state: 'approval-requested',
      input: { page: 1 },
    })
    const { text } = await chats.post('asks', { id: 'c1', messages: [user, decided(message, true)] })
    expect(text).toContain('published')
    const [, after] = (await chats.reload('asks', 'c1')).messages
    expect(statesOf(after)).toEqual(['tool-approve:output-available', 'text:done'])
  })

  test('are data parts for ai 5, to be answered by the API', async () => {
    const chats = await openChats({ asks })
    const { text, headers } = await chats.post('asks', { id: 'c1', messages: [userMessage('u1', 'go')] }, '?ui=5')
    expect(text).not.toContain('tool-approval-request')
    expect(text).toContain('"type":"data-approval"')
    await chats.call('POST', `/runs/${headers['x-run-id']}/resume`, { approved: true })
    const [, message] = (await chats.reload('asks', 'c1', '?ui=5')).messages
    expect(message.parts.find(({ type }: Any) => type === 'data-approval').data).toMatchObject({ approved: true })
  })
})

test('the page executes the tools that it brings, and the output comes once', async () => {
  const model = scriptedModel(({ number, prompt }) =>
    number === 1
      ? { tool_calls: [{ name: 'pick', input: { of: 2 } }] }
      : JSON.stringify(prompt).includes('the second')
        ? 'You have the second.'
        : 'What?',
  )
  const chats = await openChats({ picker: agent({ model }) })
  const agentserve = { client_tools: [{ name: 'pick', parameters: { type: 'object', properties: {} } }] }
  const user = userMessage('u1', 'choose')
  const { chunks } = await chats.post('picker', { id: 'c1', messages: [user], agentserve })
  expect(chunks.map(({ type }) => type)).toEqual([
    'start',
    'start-step',
    'tool-input-available',
    'finish-step',
    'finish',
  ])
  const [, message] = (await chats.reload('picker', 'c1')).messages
  const parts = message.parts.map((part: Any) =>
    part.toolCallId ? { ...part, state: 'output-available', output: 'the second' } : part,
  )
  const post = () => chats.post('picker', { id: 'c1', messages: [user, { ...message, parts }], agentserve })
  const first = await post()
  expect(first.text).toContain('You ')
  expect((await post()).text).toBe(first.text)
  const [, after] = (await chats.reload('picker', 'c1')).messages
  expect(statesOf(after)).toEqual(['tool-pick:output-available', 'text:done'])
})

test('many answers to nothing cost few reads', async () => {
  const chats = await openChats()
  await chats.post('echo', { id: 'many', messages: [userMessage('u1', 'hello')] })
  const heads = vi.spyOn(chats.services.runs, 'head')
  onTestFinished(() => heads.mockRestore())
  const answered = (id: string) => ({
    id,
    role: 'assistant',
    parts: [{ type: 'tool-x', toolCallId: 'c', state: 'output-available', output: 1 }],
  })
  const post = (messages: object[]) => chats.post('echo', { id: 'many', messages })
  expect((await post(Array.from({ length: 1_000 }, () => answered('msg_one')))).status).toBe(400)
  expect(heads.mock.calls.length).toBe(1)
  expect((await post(Array.from({ length: 1_000 }, (_, at) => answered(`msg_${at}`)))).status).toBe(400)
  expect(heads.mock.calls.length).toBe(101)
})
