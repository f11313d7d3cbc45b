import { expect, test } from 'vitest'
import type { Instance } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { type Answer, ask, readFrames } from '../../../support/cluster/requests.ts'
import { owned } from '../../../support/owned.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'

describePostgres('three instances of which one fails', () => {
  let [a, b, c] = [] as unknown as [Instance, Instance, Instance]
  ownInstances({ names: ['a', 'b', 'c'], forEach: true }, (all) => {
    ;[a, b, c] = all
  })

  const start = (instance: Instance, input: string, more: object = {}, agent = 'ticking') =>
    instance.client.agents.background(agent, { input, ...more })
  const find = async (runId: string, instance = b) => instance.client.runs.get(runId)
  const isReady = async ({ url }: Instance) => (await fetch(`${url}/health/ready`)).status
  const told = ({ status, body, headers }: Answer) =>
    `${status} ${body.error.code}${headers.has('retry-after') ? ', later' : ''}`
  const endless = '100000 20 endless'

  test('end the runs of one that is killed, and do what waited in it', { timeout: 90_000 }, async () => {
    const { run_id: running, session_id: session } = await start(a, endless)
    const queued = await start(a, '3 0 queued', { session_id: session })
    const workflow = await start(a, 'tea 100000', {}, 'order')
    const elsewhere = await start(b, endless)
    await expect.poll(async () => (await find(running)).content).toContain('fragment 3. ')
    const reader = owned(readFrames(c.url, running))
    await a.kill()
    await expect.poll(async () => (await find(running)).status, { timeout: 20_000 }).toBe('interrupted')
    await expect.poll(async () => (await find(queued.run_id, c)).status, { timeout: 10_000 }).toBe('completed')
    expect(await find(queued.run_id)).toMatchObject({ content: 'fragment 0. fragment 1. fragment 2. ' })
    // Who read it elsewhere has read all that is recorded, up to its end.
    const read = await reader
    expect(read).toEqual(await readFrames(b.url, running))
    expect(read.at(-1)).toContain('"status":"interrupted"')
    await expect.poll(async () => (await find(workflow.run_id)).status).toBe('interrupted')
    expect(await find(elsewhere.run_id)).toMatchObject({ status: 'running' })
    await a.start()
    expect(await find(running, a)).toMatchObject({ status: 'interrupted' })
  })

  test('go on at once with what waited in one that is stopped', { timeout: 60_000 }, async () => {
    const { run_id: running, session_id: session } = await start(b, endless)
    const queued = await start(a, '3 0 queued', { session_id: session })
    const other = await start(a, '3 0 queued', { session_id: session })
    const ended = await a.stop()
    expect([ended.code, ended.signal]).toEqual([0, null])
    expect((await find(queued.run_id)).status).toBe('queued')
    await b.client.runs.cancel(running)
    // Less than it takes to declare an instance dead.
    await expect.poll(async () => (await find(queued.run_id)).status, { timeout: 8_000 }).toBe('completed')
    await expect.poll(async () => (await find(other.run_id)).status, { timeout: 8_000 }).toBe('completed')
  })

  test('say on one without its database that it is not ready, until it has it again', { timeout: 60_000 }, async () => {
    const { run_id: running } = await start(a, endless)
    a.proxy.stall()
    a.wakes.stall()
    // What came before it knew waits for the database; from then on it refuses.
    const refused = () => ask(a.url, '/agents/echo/run', { body: { input: 'hello' }, signal: AbortSignal.timeout(500) })
    await expect.poll(() => refused().then(told, () => 'nothing'), { timeout: 20_000 }).toBe('503 unavailable, later')
    expect(await isReady(a)).toBe(503)
    expect([await isReady(b), await isReady(c)]).toEqual([200, 200])
    expect((await b.client.agents.run('echo', { input: 'hello' })).content).toBe('hello')
    await Promise.all([a.proxy.heal(), a.wakes.heal()])
    await expect.poll(() => isReady(a), { timeout: 20_000 }).toBe(200)
    expect((await a.client.agents.run('echo', { input: 'hello' })).content).toBe('hello')
    // It was away for too short a time to be taken for dead.
    expect(await find(running)).toMatchObject({ status: 'running' })
    await b.client.runs.cancel(running)
  })

  test('take one that was stopped for long for dead, and have it back as another', { timeout: 90_000 }, async () => {
    const { run_id: running } = await start(a, endless)
    await expect.poll(async () => (await find(running)).content).toContain('fragment 3. ')
    const reader = readFrames(a.url, running).catch((error: unknown) => error)
    a.server.child.kill('SIGSTOP')
    await expect.poll(async () => (await find(running)).status, { timeout: 25_000 }).toBe('interrupted')
    const before = await find(running)
    a.server.child.kill('SIGCONT')
    await expect.poll(() => isReady(a), { timeout: 20_000 }).toBe(200)
    expect(await find(running)).toEqual(before)
    expect(await find(running, a)).toEqual(before)
    await reader
    expect((await a.client.agents.run('ticking', { input: '2 0' })).content).toBe('fragment 0. fragment 1. ')
    const next = await start(a, endless)
    await expect.poll(async () => (await find(next.run_id)).content).toContain('fragment 3. ')
    await b.client.runs.cancel(next.run_id)
  })
})
