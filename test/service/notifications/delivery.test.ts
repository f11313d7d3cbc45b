import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { systemTimers } from '../../../src/runtime/timers.ts'
import type { NotificationService } from '../../../src/service/notifications/notifications.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { type Receiver, startReceiver } from '../../support/push-receiver.ts'
import { echo, gate, request, runnable } from '../../support/services.ts'
import { type Options, openNotifying, settings } from './support.ts'

let receiver: Receiver
const open: NotificationService[] = []
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  for (const service of open.splice(0)) await service.close()
  await receiver.close()
})

async function opened(entities: Parameters<typeof openNotifying>[0], options?: Options) {
  const services = await openNotifying(entities, options)
  open.push(services.notifications)
  return services
}
const statuses = () => receiver.received.map(({ json }) => json.status)
const asking = runnable(async function* (_input, { resumed }) {
  if (resumed === undefined) yield { type: 'input_required', call_id: 'ask', kind: 'approval', prompt: 'may I?' }
  else yield 'done'
})

it('tells the state of a run and then each change, with what the receiver knows it by', async () => {
  const held = gate()
  const { runs, notifications } = await opened({ held: held.runnable })
  const { runId } = await runs.start(request('held', 'hi', { mode: 'background' }))
  await held.begun(0)
  await notifications.set(runId, {
    url: receiver.url,
    token: 'known',
    authentication: { scheme: 'Bearer', credentials: 'secret' },
    version: '1.0',
  })
  await expect.poll(statuses).toEqual(['running'])
  held.open(0)
  await expect.poll(statuses).toEqual(['running', 'completed'])
  expect(receiver.received.map(({ json }) => json.isFirst)).toEqual([true, false])
  const [first] = receiver.received
  expect(first?.headers).toMatchObject({
    authorization: 'Bearer secret',
    'x-a2a-notification-token': 'known',
    'content-type': 'application/json',
  })
})

it('tells nothing that authenticates a notification to anybody', async () => {
  const { runs, notifications, told } = await opened({ echo })
  receiver.answer((_, response) => response.writeHead(403).end())
  const { runId } = await runs.start(request('echo', 'hi'))
  const url = `${receiver.url}?key=hidden`
  const authentication = { scheme: 'Bearer', credentials: 'secret' }
  const made = await notifications.set(runId, { id: 'a', url, token: 'known', authentication, version: '1.0' })
  await vi.waitFor(() => expect(told).not.toEqual([]), 10_000)
  const shown = { run_id: runId, config_id: 'a', url, version: '1.0', scheme: 'Bearer', created_at: made.created_at }
  expect([made, ...(await notifications.list(runId))]).toEqual([shown, shown])
  expect(JSON.stringify(told)).not.toMatch(/secret|known|hidden/)
})

it('tells of a pause, of what comes after it, and of the cancellation of a paused run', async () => {
  const { runs, notifications } = await opened({ asking })
  const first = await runs.start(request('asking', 'hi'))
  await notifications.set(first.runId, { url: receiver.url, version: '1.0' })
  await expect.poll(() => statuses().at(-1)).toBe('input_required')
  await (await runs.resume(first.runId, { approved: true, mode: 'plain' })).result()
  await expect.poll(() => statuses().at(-1)).toBe('completed')
  const second = await runs.start(request('asking', 'hi'))
  await second.result()
  await notifications.set(second.runId, { url: receiver.url, version: '1.0' })
  await expect.poll(() => statuses().at(-1)).toBe('input_required')
  await runs.cancel(second.runId)
  await expect.poll(() => statuses().at(-1)).toBe('cancelled')
})

it('tells a slow receiver the newest state instead of all of them', async () => {
  const { runs, notifications } = await opened({ asking })
  const { runId, result } = await runs.start(request('asking', 'hi'))
  await result()
  const answers: (() => void)[] = []
  receiver.answer((_, response) => answers.push(() => response.writeHead(200).end()))
  await notifications.set(runId, { url: receiver.url, version: '1.0' })
  await expect.poll(() => answers.length).toBe(1)
  await (await runs.resume(runId, { approved: true, mode: 'plain' })).result()
  receiver.answer((_, response) => response.writeHead(200).end())
  for (const answer of answers) answer()
  await expect.poll(statuses).toEqual(['input_required', 'completed'])
})

it('tries again when the receiver fails or closes the connection', async () => {
  const { runs, notifications, told } = await opened({ echo })
  const { runId, result } = await runs.start(request('echo', 'hi'))
  await result()
  let count = 0
  receiver.answer((incoming, response) => {
    count++
    if (count === 1) incoming.socket.destroy()
    else response.writeHead(count === 2 ? 500 : count === 3 ? 429 : 200).end()
  })
  await notifications.set(runId, { url: receiver.url, version: '1.0' })
  await expect.poll(statuses).toEqual(['completed', 'completed', 'completed', 'completed'])
  await notifications.close()
  expect(told).toEqual([])
})

it.each<[header: string, least: number, most: number]>([
  ['7', 7_000, 7_000],
  ['1', 1_000, 45_000],
  ['0', 500, 45_000],
  ['999999999', 300_000, 300_000],
  ['Wed, 21 Oct 2015 07:28:00 GMT', 500, 45_000],
  ['soon', 500, 45_000],
  ['-5', 500, 45_000],
])(
  'waits before it tries again for as long as the receiver asks, at most five minutes: %s',
  async (header, least, most) => {
    const { runs, notifications, pauses } = await opened({ echo })
    const { runId, result } = await runs.start(request('echo', 'hi'))
    await result()
    let count = 0
    receiver.answer((_, response) => {
      count++
      if (count < 3) response.writeHead(503, { 'retry-after': header }).end()
      else response.writeHead(200).end()
    })
    await notifications.set(runId, { url: receiver.url, version: '1.0' })
    await expect.poll(statuses).toEqual(['completed', 'completed', 'completed'])
    expect(pauses).toHaveLength(2)
    for (const ms of pauses) {
      expect(ms).toBeGreaterThanOrEqual(least)
      expect(ms).toBeLessThanOrEqual(most)
    }
  },
)

it('waits for no receiver that asks for it when it is closed', async () => {
  const { runs, notifications, told } = await opened({ echo }, { timers: systemTimers })
  const { runId, result } = await runs.start(request('echo', 'hi'))
  await result()
  receiver.answer((_, response) => response.writeHead(429, { 'retry-after': '300' }).end())
  await notifications.set(runId, { url: receiver.url, version: '1.0' })
  await expect.poll(() => receiver.received.length).toBe(1)
  await notifications.close()
  expect([receiver.received.length, told]).toEqual([1, []])
})

it('gives up after five attempts, and disables a config after three notifications in a row', async () => {
  const { runs, notifications, told, store } = await opened({ asking })
  receiver.answer((_, response) => response.writeHead(503).end())
  const { runId, result } = await runs.start(request('asking', 'hi'))
  await result()
  await notifications.set(runId, { url: receiver.url, version: '1.0' })
  const messages = () => told.map(({ message }) => message)
  const failed = 'a push notification could not be delivered'
  await expect.poll(messages).toEqual([failed])
  expect(receiver.received).toHaveLength(5)
  // Each start of a process tries what is left again.
  for (const count of [2, 3]) {
    const next = await openNotifying({ asking }, { store, owner: `process ${count}` })
    open.push(next.notifications)
    next.notifications.takeUp()
    await expect.poll(() => receiver.received.length).toBe(5 * count)
    const expected = count === 3 ? [failed, 'a push config is disabled'] : [failed]
    await expect.poll(() => next.told.map(({ message }) => message)).toEqual(expected)
    await next.notifications.close()
  }
  expect(await store.adoptPushConfigs('last', 9)).toEqual([])
})

it.each([301, 302, 404, 410])('takes the answer %i for a no, and asks once', async (status) => {
  const { runs, notifications, told } = await opened({ echo })
  const other = await startReceiver()
  try {
    receiver.answer((_, response) => response.writeHead(status, { location: other.url }).end())
    const { runId, result } = await runs.start(request('echo', 'hi'))
    await result()
    await notifications.set(runId, { url: receiver.url, version: '1.0' })
    await vi.waitFor(() => expect(told).toMatchObject([{ fields: { reason: `it answered ${status}` } }]))
    expect(receiver.received).toHaveLength(1)
    expect(other.connections()).toBe(0)
  } finally {
    await other.close()
  }
})

it('waits no longer than its time for a receiver that says nothing', async () => {
  const { runs, notifications, told } = await opened({ echo }, { more: { timeoutMs: 50 } })
  receiver.answer(() => {})
  const { runId, result } = await runs.start(request('echo', 'hi'))
  await result()
  await notifications.set(runId, { url: receiver.url, version: '1.0' })
  await vi.waitFor(() => expect(told).toMatchObject([{ fields: { reason: 'it took too long' } }]), 20_000)
  expect(receiver.received).toHaveLength(5)
})

it('reads no more than a little of an answer without end', async () => {
  const { runs, notifications, store } = await opened({ echo })
  let written = 0
  let isClosed = false
  receiver.answer((_, response) => {
    response.writeHead(200).on('close', () => {
      isClosed = true
    })
    const write = () => {
      if (isClosed || written > 100_000_000) return
      written += 65_536
      if (response.write(Buffer.alloc(65_536))) setImmediate(write)
      else response.once('drain', write)
    }
    write()
  })
  const { runId, result } = await runs.start(request('echo', 'hi'))
  await result()
  await notifications.set(runId, { url: receiver.url, version: '1.0' })
  await expect.poll(() => isClosed).toBe(true)
  expect(written).toBeLessThan(100_000_000)
  await notifications.close()
  expect(await store.adoptPushConfigs('other', 9)).toEqual([])
})

it('lets a receiver that never answers keep no other waiting, nor the run', async () => {
  const slow = await startReceiver()
  const { runs, notifications } = await opened({ echo })
  try {
    slow.answer(() => {})
    for (let n = 0; n < 20; n++) {
      const { runId, result } = await runs.start(request('echo', 'hi'))
      await notifications.set(runId, { url: slow.url, version: '1.0' })
      expect((await result()).status).toBe('completed')
    }
    const { runId } = await runs.start(request('echo', 'hi'))
    await notifications.set(runId, { url: receiver.url, version: '1.0' })
    await expect.poll(() => statuses().at(-1)).toBe('completed')
    expect(slow.received.length).toBeLessThan(16)
  } finally {
    await slow.close()
  }
})

it('sends what a process left when it ended in the middle', async () => {
  const store = memoryStore()
  const first = await opened({ echo }, { store })
  receiver.answer(() => {})
  const { runId, result } = await first.runs.start(request('echo', 'hi'))
  await result()
  await first.notifications.set(runId, { url: receiver.url, version: '0.3' })
  await expect.poll(() => receiver.received.length).toBe(1)
  await first.notifications.close()
  receiver.answer((_, response) => response.writeHead(200).end())
  const second = await opened({ echo }, { store, owner: 'two' })
  second.notifications.takeUp()
  await expect.poll(() => receiver.received.length).toBe(2)
  expect(receiver.received[1]?.json).toEqual({ run_id: runId, status: 'completed', version: '0.3', isFirst: true })
  await second.notifications.close()
  expect(await store.adoptPushConfigs('three', 9)).toEqual([])
}, 20_000)

it('sends nothing more once a config is deleted, or its session', async () => {
  const held = gate()
  const { runs, notifications, sessions } = await opened({ held: held.runnable })
  const start = async (place: number) => {
    const handle = await runs.start(request('held', 'hi', { mode: 'background' }))
    await held.begun(place)
    await notifications.set(handle.runId, { id: 'a', url: receiver.url, version: '1.0' })
    await expect.poll(() => receiver.received.length).toBe(place + 1)
    return handle
  }
  const first = await start(0)
  await notifications.delete(first.runId, 'a')
  await notifications.delete(first.runId, 'a')
  held.open(0)
  await first.result()
  const second = await start(1)
  await sessions.delete(second.sessionId)
  await notifications.close()
  expect(statuses()).toEqual(['running', 'running'])
  expect(await notifications.list(second.runId)).toEqual([])
})

it('refuses one config more than allowed, and one for a run that is not there', async () => {
  const { runs, notifications } = await opened({ echo })
  const { runId, result } = await runs.start(request('echo', 'hi'))
  await result()
  const set = (id: string) => notifications.set(runId, { id, url: receiver.url, version: '1.0' })
  for (let n = 0; n < settings.configs; n++) await set(`${n}`)
  await set('0')
  await expect(set('more')).rejects.toMatchObject({ code: 'invalid_request', message: /has 2 push configs/ })
  const none = notifications.set('run_none', { url: receiver.url, version: '1.0' })
  await expect(none).rejects.toMatchObject({ code: 'run_not_found' })
})
