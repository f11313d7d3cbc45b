import { expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import type { RunInput } from '../../../src/core/runnable.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import type { A2ASuccess } from '../../../src/wire/protocols/a2a.ts'
import { A2AFailure, A2AResponse } from '../../../src/wire/protocols/a2a.ts'
import { openA2A, rpc } from '../../support/a2a.ts'
import { echo, gate, runnable } from '../../support/services.ts'

const repeat = runnable(async function* (input: RunInput) {
  yield JSON.stringify(input.parts)
})

async function taskOf(pending: ReturnType<Awaited<ReturnType<typeof openA2A>>['post']>) {
  const response = await pending
  expect(response.status).toBe(200)
  const body = await response.json()
  expect(A2AResponse.safeParse(body).error).toBeUndefined()
  expect(body).not.toHaveProperty('error')
  return { task: (body as A2ASuccess).result.task, id: (body as A2ASuccess).id, headers: response.headers }
}

test('answers a task whose reply carries agent and context', async () => {
  const { post, runs } = await openA2A({ echo })
  const request = rpc('sendMessage', 'echo', 'hello there', { contextId: 'talk-1' })
  const { task, id, headers } = await taskOf(post('sendMessage', request))
  expect(id).toBe(request.id)
  expect(task).toMatchObject({
    status: 'completed',
    messages: [
      { role: 'assistant', agentId: 'echo', contextId: 'talk-1', parts: [{ type: 'text', content: 'hello there' }] },
    ],
  })
  expect(headers).toMatchObject({ 'x-run-id': task.taskId, 'x-session-id': 'talk-1' })
  const run = await runs.get(task.taskId)
  expect(run).toMatchObject({ session_id: 'talk-1', status: 'completed' })
  expect(run.messages[0]).toMatchObject({ role: 'user', message_id: request.params.message.messageId })
})

test('makes a session for a message without a context and continues one that is named', async () => {
  const { post, sessions } = await openA2A({ echo })
  const first = await taskOf(post('sendMessage', rpc('sendMessage', 'echo', 'one')))
  const contextId = first.task.messages[0]?.contextId
  expect(contextId).toMatch(/^ses_/)
  const empty = await taskOf(post('sendMessage', rpc('sendMessage', 'echo', 'other', { contextId: '' })))
  expect(empty.task.messages[0]?.contextId).not.toBe(contextId)
  await taskOf(post('sendMessage', rpc('sendMessage', 'echo', 'two', { contextId })))
  const { runs } = await sessions.history(contextId ?? '', 10, false)
  expect(runs.map((run) => run.messages[0]?.content)).toEqual(['one', 'two'])
})

test('parses data parts for the agent and keeps text parts without content', async () => {
  const { post } = await openA2A({ repeat })
  const parts = [
    { type: 'text' },
    { type: 'data', data: '{"a":[1,null,"ü"]}' },
    { type: 'text', content: 'x', more: 1 },
  ]
  const { task } = await taskOf(post('sendMessage', rpc('sendMessage', 'repeat', '', { parts })))
  expect(JSON.parse(task.messages[0]?.parts[0]?.content ?? '')).toEqual([
    { type: 'text', text: '' },
    { type: 'data', data: { a: [1, null, 'ü'] } },
    { type: 'text', text: 'x' },
  ])
})

test('answers a failed task that says why, after what was said before', async () => {
  const { post, runs } = await openA2A({
    broken: runnable(async function* () {
      yield 'I was about to'
      throw new AppError('run_failed', 'The oven is cold.')
    }),
    leaky: runnable(async function* () {
      yield* []
      throw new Error('password=hunter2')
    }),
  })
  const { task } = await taskOf(post('sendMessage', rpc('sendMessage', 'broken', 'go', { contextId: 'c' })))
  expect(task.status).toBe('failed')
  expect(task.messages.map((message) => [message.role, message.contextId, message.parts[0]?.content])).toEqual([
    ['assistant', 'c', 'I was about to'],
    ['assistant', 'c', 'The oven is cold.'],
  ])
  expect(await runs.get(task.taskId)).toMatchObject({ status: 'failed' })
  const leaky = await taskOf(post('sendMessage', rpc('sendMessage', 'leaky', 'go')))
  expect(leaky.task.status).toBe('failed')
  expect(JSON.stringify(leaky.task)).not.toContain('hunter2')
})

test('answers a failed task when the run was cancelled or took too long', async () => {
  const gated = gate()
  const { post, runs } = await openA2A({ gated: gated.runnable })
  const pending = taskOf(post('sendMessage', rpc('sendMessage', 'gated', 'go')))
  const { runId } = await gated.begun(0)
  await runs.cancel(runId, 'tired of it')
  const { task } = await pending
  expect(task).toMatchObject({ taskId: runId, status: 'failed' })
  expect(task.messages.map((message) => message.parts[0]?.content)).toEqual(['a', 'The run was cancelled: tired of it'])
  gated.open(0)

  const slow = gate()
  const limited = await openA2A({ slow: slow.runnable }, { requestTimeoutMs: 30 })
  const late = await taskOf(limited.post('sendMessage', rpc('sendMessage', 'slow', 'go')))
  expect(late.task.status).toBe('failed')
  expect(late.task.messages.at(-1)?.parts[0]?.content).toContain('requestTimeout')
  slow.open(0)
})

test('answers one message even when the agent said nothing', async () => {
  const { post } = await openA2A({
    silent: runnable(async function* () {
      yield* []
    }),
  })
  const { task } = await taskOf(post('sendMessage', rpc('sendMessage', 'silent', 'go')))
  expect(task).toMatchObject({ status: 'completed', messages: [{ role: 'assistant', parts: [{ type: 'text' }] }] })
})

test('gives the same message the same task, and joins it while it runs', async () => {
  const gated = gate()
  const { post, runs } = await openA2A({ gated: gated.runnable })
  const request = rpc('sendMessage', 'gated', 'go')
  const first = taskOf(post('sendMessage', request))
  await gated.begun(0)
  const joined = taskOf(post('sendMessage', { ...request, id: 'another id' }))
  gated.open(0)
  const { task } = await first
  expect((await joined).task).toEqual(task)
  expect((await joined).id).toBe('another id')
  expect((await taskOf(post('sendMessage', request))).task).toEqual(task)
  expect((await runs.list({}, { limit: 10 })).items).toHaveLength(1)
})

test('answers a message that a crash interrupted with the same task, failed, and runs nothing twice', async () => {
  const store = memoryStore()
  const gated = gate()
  const before = await openA2A({ gated: gated.runnable }, { store })
  const request = rpc('sendMessage', 'gated', 'go')
  const lost = before.post('sendMessage', request)
  const { runId } = await gated.begun(0)
  await store.recover('own_later', new Date().toISOString())
  const later = await openA2A({ gated: gated.runnable }, { store })
  const { task } = await taskOf(later.post('sendMessage', request))
  expect(task).toMatchObject({ taskId: runId, status: 'failed' })
  expect(task.messages.at(-1)?.parts[0]?.content).toContain('interrupted')
  const streamed = await later.post('streamMessage', { ...request, method: 'streamMessage' })
  expect(A2AFailure.parse(await streamed.json()).error.code).toBe(-32603)
  expect((await later.runs.list({}, { limit: 10 })).items).toHaveLength(1)
  gated.open(0)
  await lost
})

test('refuses a messageId that comes again with other parts, and takes it in another context', async () => {
  const { post, runs } = await openA2A({ echo })
  await taskOf(post('sendMessage', rpc('sendMessage', 'echo', 'one', { messageId: 'm', contextId: 'a' })))
  const again = await (
    await post('sendMessage', rpc('sendMessage', 'echo', 'two', { messageId: 'm', contextId: 'a' }))
  ).json()
  expect(A2AFailure.parse(again).error.code).toBe(-32602)
  await taskOf(post('sendMessage', rpc('sendMessage', 'echo', 'two', { messageId: 'm', contextId: 'b' })))
  expect((await runs.list({}, { limit: 10 })).items).toHaveLength(2)
})

test('takes an Idempotency-Key in place of the messageId', async () => {
  const { post, runs } = await openA2A({ echo })
  const key = { 'idempotency-key': 'key-1' }
  const first = await taskOf(post('sendMessage', rpc('sendMessage', 'echo', 'one'), key))
  const second = await taskOf(post('sendMessage', rpc('sendMessage', 'echo', 'one'), key))
  expect(second.task.taskId).toBe(first.task.taskId)
  expect((await runs.list({}, { limit: 10 })).items).toHaveLength(1)
})

test('refuses an Idempotency-Key that is none', async () => {
  const { post } = await openA2A({ echo })
  const response = await post('sendMessage', rpc('sendMessage', 'echo', 'one'), { 'idempotency-key': 'two words' })
  expect(A2AFailure.parse(await response.json()).error.code).toBe(-32600)
})

test('cancels the run of a client that leaves, unless it said continue', async () => {
  const gated = gate()
  const { post, runs } = await openA2A({ gated: gated.runnable })
  const client = new AbortController()
  const leaving = post('sendMessage', rpc('sendMessage', 'gated', 'go'), {}, client.signal)
  const { runId } = await gated.begun(0)
  client.abort()
  await expect(leaving).rejects.toThrow()
  await expect.poll(async () => (await runs.get(runId)).status).toBe('cancelled')
  expect((await runs.get(runId)).cancellation_reason).toBe('client_disconnected')

  const other = new AbortController()
  const request = rpc('sendMessage', 'gated', 'go')
  Object.assign(request.params, { onDisconnect: 'continue' })
  const left = post('sendMessage', request, {}, other.signal)
  const context = await gated.begun(1)
  other.abort()
  await expect(left).rejects.toThrow()
  gated.open(0)
  gated.open(1)
  await expect.poll(async () => (await runs.get(context.runId)).status).toBe('completed')
})

test('answers 64 requests at once, each with its own reply', async () => {
  const { post, runs, sessions } = await openA2A({ echo })
  const texts = Array.from({ length: 64 }, (_, index) => `message number ${index}`)
  const answers = await Promise.all(
    texts.map((text, index) =>
      taskOf(post('sendMessage', rpc('sendMessage', 'echo', text, { contextId: `c${index % 16}` }))),
    ),
  )
  expect(answers.map(({ task }) => task.messages[0]?.parts[0]?.content)).toEqual(texts)
  expect(new Set(answers.map(({ task }) => task.taskId)).size).toBe(64)
  expect((await runs.list({}, { limit: 100 })).items).toHaveLength(64)
  expect((await sessions.list({}, { limit: 100 })).items).toHaveLength(16)
})

test('says nothing of trouble with the storage but that there is some', async () => {
  const store = memoryStore()
  store.startRun = async () => {
    throw new AppError('storage_full', 'disk /dev/sda1 is full')
  }
  const { post } = await openA2A({ echo }, { store })
  const response = await post('sendMessage', rpc('sendMessage', 'echo', 'hi'))
  expect(response.status).toBe(200)
  const { error } = A2AFailure.parse(await response.json())
  expect(error).toEqual({ code: -32603, message: 'the server cannot store anything now; retry later' })
})
