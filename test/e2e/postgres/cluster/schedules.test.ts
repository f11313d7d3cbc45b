import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Instance } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { type Receiver, startReceiver } from '../../../support/push-receiver.ts'

const config = `
import { agent, defineConfig } from 'agentserve'

const { LISTEN_URL, HOOK } = process.env
export default defineConfig({
  server: { storage: { type: 'postgres', schema: 'agents', listenUrl: LISTEN_URL, cluster: { deadAfter: '5s' } } },
  agents: { echo: agent({ async *run({ text }) { yield text } }) },
  schedules: { ticks: { cron: '* * * * * *', agent: 'echo', input: 'tick', overlap: 'allow' } },
  webhooks: { ops: { url: HOOK, secret: 'whsec_' + btoa('x'.repeat(32)), allowHttp: true, allowPrivate: true } },
})
`

describePostgres('schedules and webhooks of three instances', () => {
  let receiver: Receiver
  let all: readonly Instance[] = []
  beforeAll(async () => {
    receiver = await startReceiver(Number(new URL(hook).port))
  })
  afterAll(() => receiver?.close())
  const hook = `http://127.0.0.1:${20_000 + (process.pid % 20_000)}/hook`
  ownInstances({ names: ['a', 'b', 'c'], config, env: { HOOK: hook } }, (instances) => {
    all = instances
  })

  test('start each due time once and tell of each run once, though one is killed', { timeout: 120_000 }, async () => {
    const [a, b] = all as [Instance, Instance]
    const told = () => receiver.received.length
    await expect.poll(told, { timeout: 30_000 }).toBeGreaterThan(5)
    await a.kill()
    const before = told()
    await expect.poll(told, { timeout: 40_000 }).toBeGreaterThan(before + 5)
    await a.start()
    await expect.poll(told, { timeout: 40_000 }).toBeGreaterThan(before + 10)
    await b.client.schedules.pause('ticks')
    const { runs } = await b.client.runs.list({}, { limit: 100 })
    const due = await Promise.all(runs.map(async ({ run_id }) => (await b.client.runs.get(run_id)).metadata?.schedule))
    const times = due.map((schedule) => (schedule as { due_at: string }).due_at)
    expect(times.length).toBeGreaterThan(10)
    expect(new Set(times).size).toBe(times.length)
    const tellsOf = (runId: string) => receiver.received.filter(({ json }) => json.data.run_id === runId)
    await expect.poll(() => runs.filter(({ run_id }) => tellsOf(run_id).length === 0), { timeout: 150_000 }).toEqual([])
    for (const { run_id } of runs)
      expect(new Set(tellsOf(run_id).map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    const shown = await Promise.all(all.map(({ client }) => client.schedules.get('ticks')))
    expect(shown.map(({ paused }) => paused)).toEqual([true, true, true])
  })
})
