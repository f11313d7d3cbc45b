import { type StreamResponse, type Task, TaskState } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agent } from '../../../../src/runnables/agent/agent.ts'
import { collect } from '../../../support/collect.ts'
import { dataOf, folded, officialClient, officialWays, said } from '../../../support/official-clients.ts'
import { type RunningTestServer, startServer } from '../../../support/server.ts'

let server: RunningTestServer
const goOn = new Map<string, () => void>()

beforeAll(async () => {
  const asks = agent({
    async *run({ text, resumed }) {
      if (resumed !== undefined) yield `told ${JSON.stringify(resumed.approved ?? resumed.input)}`
      else {
        yield 'one moment, '
        const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
        if (text === 'decide') yield { type: 'input_required', call_id: 'c1', prompt: 'May I?' }
        else yield { type: 'input_required', prompt: 'Where?', ...(text === 'form' && { schema }) }
      }
    },
  })
  const slow = agent({
    async *run({ text, signal }) {
      yield 'begun '
      await new Promise<void>((resolve) => {
        goOn.set(text, resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      signal.throwIfAborted()
      yield 'ended'
    },
  })
  const fails = agent({
    async *run() {
      yield 'almost'
      throw new Error('secret')
    },
  })
  const data = agent({
    async *run() {
      yield { type: 'data', data: [1, 'two', { three: null }] }
    },
  })
  server = await startServer({}, { asks, slow, fails, data })
})
afterAll(() => server.close())

const base = (id: string) => `${server.url}/api/v1/a2a/agents/${id}/`

/** The first task of a stream, and the rest of it. */
async function opened(stream: AsyncGenerator<StreamResponse>): Promise<Task> {
  const { value } = await stream.next()
  if (value?.payload?.$case !== 'task') throw new Error('the stream does not begin with its task')
  return value.payload.value
}

async function sent(client: Client, ...given: Parameters<typeof said>): Promise<Task> {
  return (await client.sendMessage(said(...given))) as Task
}

describe.each(officialWays)('over %s', (way) => {
  test('a message is answered with its task, and the same message with the same one', async () => {
    const client = await officialClient(way, base('echo'))
    const message = said('hello big world')
    const task = (await client.sendMessage(message)) as Task
    expect(folded([task])).toMatchObject({
      state: TaskState.TASK_STATE_COMPLETED,
      text: 'hello big world',
      message: '',
    })
    expect(task.history).toMatchObject([{ messageId: message.message?.messageId, taskId: task.id }])
    expect(((await client.sendMessage(message)) as Task).id).toBe(task.id)
    expect(await client.getTask({ tenant: '', id: task.id, historyLength: 0 })).toEqual({ ...task, history: [] })
    const next = await sent(client, 'again', { contextId: task.contextId })
    expect(next.contextId).toBe(task.contextId)
    expect(next.id).not.toBe(task.id)
  })

  test('a stream has the task, its text once, and its end; read again it is the same', async () => {
    const client = await officialClient(way, base('echo'))
    const message = said('hello big world')
    const events = await collect(client.sendMessageStream(message))
    expect(events.map(({ payload }) => payload?.$case)).toEqual([
      'task',
      ...Array(4).fill('artifactUpdate'),
      'statusUpdate',
    ])
    const task = folded(events)
    expect(task).toMatchObject({ state: TaskState.TASK_STATE_COMPLETED, text: 'hello big world', message: '' })
    expect(folded([await client.getTask({ tenant: '', id: task.id })])).toEqual(task)
    expect(await collect(client.sendMessageStream(message))).toEqual(events)
    // Heartbeats anywhere between the frames are nothing to a client.
    const beating = await officialClient(way, base('echo'), {}, (text) => text.replaceAll('\n\n', '\n\n: hb\n\n'))
    expect(await collect(beating.sendMessageStream(message))).toEqual(events)
  })

  test('a subscriber that comes later gets the task so far and the rest, also when the first has left', async () => {
    const client = await officialClient(way, base('slow'))
    const first = client.sendMessageStream(said(`later ${way}`))
    const { id } = await opened(first)
    await first.next()
    const stayed = client.resubscribeTask({ tenant: '', id })
    expect(folded([await opened(stayed)])).toMatchObject({ text: 'begun ', state: TaskState.TASK_STATE_WORKING })
    await first.return(undefined)
    await expect.poll(() => goOn.has(`later ${way}`)).toBe(true)
    goOn.get(`later ${way}`)?.()
    const rest = folded(await collect(stayed))
    expect(rest).toMatchObject({ text: 'ended', state: TaskState.TASK_STATE_COMPLETED })
    await expect(collect(client.resubscribeTask({ tenant: '', id }))).rejects.toThrow(/has ended/)
  })

  test('a task is cancelled once', async () => {
    const client = await officialClient(way, base('slow'))
    const { id } = await sent(client, `cancel ${way}`, { returnImmediately: true })
    const task = await client.cancelTask({ tenant: '', id, metadata: undefined })
    expect(task.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
    await expect(client.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toThrow(/has ended already/)
    const asks = await officialClient(way, base('asks'))
    const { id: asked } = await sent(asks, 'decide')
    const dropped = await asks.cancelTask({ tenant: '', id: asked, metadata: undefined })
    expect(dropped.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
    await expect(sent(asks, 'approve', { taskId: asked })).rejects.toThrow(/does not wait/)
  })

  test('a task that waits gets its answer as text or data, and only an answer', async () => {
    const client = await officialClient(way, base('asks'))
    const waiting = await sent(client, 'decide')
    expect(folded([waiting])).toMatchObject({ state: TaskState.TASK_STATE_INPUT_REQUIRED, message: 'May I?' })
    const { id: taskId, contextId } = waiting
    expect(waiting.status?.message?.parts[1]?.content?.value).toMatchObject({ call_id: 'c1', kind: 'approval' })
    await expect(sent(client, 'perhaps', { taskId })).rejects.toThrow(/approve/)
    await expect(sent(client, 'approve', { taskId, contextId: 'another' })).rejects.toThrow(/context/)
    const answer = said('approve', { taskId, contextId })
    const done = (await client.sendMessage(answer)) as Task
    expect(folded([done])).toMatchObject({ state: TaskState.TASK_STATE_COMPLETED, text: 'one moment, told true' })
    // Sent twice, an answer is one; another one comes too late.
    expect(await client.sendMessage(answer)).toEqual(done)
    await expect(sent(client, 'deny', { taskId })).rejects.toThrow(/does not wait/)

    const form = await collect(client.sendMessageStream(said('form')))
    const asked = folded(form)
    expect(asked).toMatchObject({ state: TaskState.TASK_STATE_INPUT_REQUIRED, text: 'one moment, ' })
    await expect(sent(client, [dataOf({ input: { city: 1 } })], { taskId: asked.id })).rejects.toThrow(/city/)
    const more = await collect(
      client.sendMessageStream(said([dataOf({ input: { city: 'Ghent' } })], { taskId: asked.id })),
    )
    expect(folded(more)).toMatchObject({ text: 'one moment, told {"city":"Ghent"}', id: asked.id })
    const question = await sent(client, 'ask')
    const told = await sent(client, 'Paris', { taskId: question.id })
    expect(folded([told]).text).toBe('one moment, told "Paris"')
    expect(await sent(client, 'Paris', { taskId: question.id })).toEqual(told)
    await expect(sent(client, 'Rome', { taskId: question.id })).rejects.toThrow(/does not wait/)
  })

  test('a run that fails is a failed task whose message says no secret; data is a part of its own', async () => {
    const failed = folded(await collect((await officialClient(way, base('fails'))).sendMessageStream(said('x'))))
    expect(failed).toMatchObject({ state: TaskState.TASK_STATE_FAILED, text: 'almost' })
    expect(failed.message).not.toBe('')
    expect(failed.message).not.toContain('secret')
    const client = await officialClient(way, base('data'))
    const events = await collect(client.sendMessageStream(said('x')))
    expect(folded(events).data).toEqual([[1, 'two', { three: null }]])
    expect(folded([await client.getTask({ tenant: '', id: folded(events).id })])).toEqual(folded(events))
  })

  test('what is no task of this agent is not found', async () => {
    const client = await officialClient(way, base('echo'))
    const other = await sent(await officialClient(way, base('data')), 'x')
    for (const id of ['unknown', other.id, 'a:b', '../x']) {
      await expect(client.getTask({ tenant: '', id })).rejects.toThrow(/no task/)
      await expect(client.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toThrow(/no task/)
      await expect(collect(client.resubscribeTask({ tenant: '', id }))).rejects.toThrow(/no task/)
      await expect(sent(client, 'x', { taskId: id })).rejects.toThrow(/no task/)
    }
  })
})
