import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { timestamp } from '../../../src/core/time.ts'
import type { Webhook } from '../../../src/core/triggers/webhook.ts'
import { Delivery } from '../../../src/service/webhooks/delivery.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { manualTimers } from '../../support/manual-timers.ts'
import { startReceiver } from '../../support/push-receiver.ts'
import { echo, openServices, request } from '../../support/services.ts'

test('what an ended process has left is sent once, also when a run ends while it is taken', async () => {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const store = memoryStore()
  const { runs } = await openServices({ echo }, store)
  const handle = await runs.start(request('echo', 'hello'))
  await handle.result()
  const now = timestamp(Date.now())
  await store.addWebhookJobs(handle.runId, ['ops'], now)
  expect(await store.wakeWebhookJobs(now, timestamp(0), handle.runId)).toBe(true)
  const webhook: Webhook = {
    name: 'ops',
    url: receiver.url,
    keys: [Buffer.alloc(32, 7)],
    events: undefined,
    agents: undefined,
    contents: false,
    allowHttp: true,
    allowPrivate: true,
    timeoutMs: 2_000,
  }
  let takes = 0
  const takeWebhookJobs: typeof store.takeWebhookJobs = async (...given) => {
    const jobs = await store.takeWebhookJobs(...given)
    if (++takes === 1) delivery.tell()
    return jobs
  }
  const options = { clock: Date.now, timers: manualTimers(), logger: silentLogger, runs: () => runs }
  const delivery = new Delivery(webhook, { ...options, store: { ...store, takeWebhookJobs } })
  delivery.tell(true)
  await delivery.idle()
  await delivery.close(Promise.resolve())
  expect([takes, receiver.received.length]).toEqual([2, 1])
})
