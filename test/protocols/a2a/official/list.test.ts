import { expect, onTestFinished, test } from 'vitest'
import { agent } from '../../../../src/runnables/agent/agent.ts'
import { startServer } from '../../../support/server.ts'

async function opened() {
  const goOn = new Map<string, () => void>()
  const waits = agent({
    async *run({ text, resumed, signal }) {
      if (text === 'ask' && resumed === undefined) yield { type: 'input_required', call_id: 'c1', prompt: 'May I?' }
      else if (text !== 'ask') {
        await new Promise<void>((resolve) => {
          goOn.set(text, resolve)
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
      }
    },
  })
  const server = await startServer({}, { waits })
  onTestFinished(() => server.close())
  const call = async (method: string, params: object) => {
    const body = { jsonrpc: '2.0', id: 1, method, params }
    return (await server.call('POST', '/api/v1/a2a/agents/waits', body)).json.result
  }
  let count = 0
  const send = async (text: string, more: object = {}): Promise<string> => {
    const message = { messageId: `m${++count}`, role: 'ROLE_USER', parts: [{ text }], ...more }
    return (await call('SendMessage', { message, configuration: { returnImmediately: true } })).task.id
  }
  const get = (id: string) => call('GetTask', { id })
  const ended = async (text: string, id: string) => {
    await expect.poll(() => goOn.has(text)).toBe(true)
    goOn.get(text)?.()
    await expect.poll(async () => (await get(id)).status.state).toBe('TASK_STATE_COMPLETED')
  }
  const ids = async (params: object = {}): Promise<string[]> => {
    const { tasks } = await call('ListTasks', params)
    return tasks.map(({ id }: { id: string }) => id)
  }
  return { call, send, get, ended, ids }
}

test('the task whose status has changed last comes first, whichever began first', async () => {
  const { send, get, ended, ids } = await opened()
  const first = await send('first')
  await expect.poll(async () => (await get(first)).status.state).toBe('TASK_STATE_WORKING')
  const asked = await send('ask')
  await expect.poll(async () => (await get(asked)).status.state).toBe('TASK_STATE_INPUT_REQUIRED')
  const last = await send('last')
  await expect.poll(async () => (await get(last)).status.state).toBe('TASK_STATE_WORKING')
  expect(await ids()).toEqual([last, asked, first])
  await ended('first', first)
  expect(await ids()).toEqual([first, last, asked])
  await send('approve', { taskId: asked })
  await expect.poll(async () => (await get(asked)).status.state).toBe('TASK_STATE_COMPLETED')
  expect(await ids()).toEqual([asked, first, last])
  await ended('last', last)
  expect(await ids()).toEqual([last, asked, first])
  expect(await ids({ pageSize: 2 })).toEqual([last, asked])
})

test('a page goes on where the one before it ended, while tasks come and change', async () => {
  const { call, send, ended, ids } = await opened()
  const tasks: string[] = []
  for (const text of ['a', 'b', 'c', 'd']) {
    const id = await send(text)
    await ended(text, id)
    tasks.unshift(id)
  }
  const first = await call('ListTasks', { pageSize: 2 })
  expect(first.tasks.map(({ id }: { id: string }) => id)).toEqual(tasks.slice(0, 2))
  const late = await send('late')
  await ended('late', late)
  const rest = await call('ListTasks', { pageSize: 2, pageToken: first.nextPageToken })
  expect(rest.tasks.map(({ id }: { id: string }) => id)).toEqual(tasks.slice(2))
  expect(rest).toMatchObject({ nextPageToken: '', totalSize: 5 })
  expect(await ids()).toEqual([late, ...tasks])
})
