import { expect, test } from 'vitest'
import type { Instance } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { ask, readFrames } from '../../../support/cluster/requests.ts'
import { owned } from '../../../support/owned.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'

describePostgres('runs of three instances', () => {
  let [a, b, c] = [] as unknown as [Instance, Instance, Instance]
  ownInstances({ names: ['a', 'b', 'c'] }, (all) => {
    ;[a, b, c] = all
  })

  const start = (instance: Instance, input: string, more: object = {}) =>
    instance.client.agents.background('ticking', { input, ...more })
  const hasEnded = async (instance: Instance, runId: string) => (await instance.client.runs.get(runId)).completed_at
  const untilEnd = (instance: Instance, runId: string) =>
    expect.poll(() => hasEnded(instance, runId), { timeout: 20_000 }).not.toBeNull()

  test('end when another instance is asked to cancel them', async () => {
    const { run_id: runId } = await start(a, '10000 20 long')
    await expect.poll(async () => (await b.client.runs.get(runId)).content).toContain('fragment 3. ')
    const cancelled = await b.client.runs.cancel(runId, 'enough')
    expect(cancelled).toMatchObject({ run_id: runId, status: 'cancelled', cancellation_reason: 'enough' })
    for (const { client } of [a, b, c]) expect(await client.runs.get(runId)).toEqual(cancelled)
    await expect(c.client.runs.cancel(runId)).rejects.toMatchObject({ code: 'conflict' })
  })

  test('show their output so far on every instance, and stay running', async () => {
    const { run_id: runId } = await start(a, '10000 10 shown')
    for (const { client } of [b, c]) {
      await expect.poll(async () => (await client.runs.get(runId)).content).toContain('fragment 5. ')
      expect((await client.runs.get(runId)).status).toBe('running')
    }
    await c.client.runs.cancel(runId)
  })

  test('are streamed by each instance, byte for byte the same, from any event on', async () => {
    const { run_id: runId } = await start(a, '150 10 streamed')
    const whole = owned(readFrames(a.url, runId))
    const before = await readFrames(b.url, runId, { count: 20 })
    const [atB, atC, late] = await Promise.all([
      readFrames(b.url, runId, { after: 20 }),
      readFrames(c.url, runId, { after: 7 }),
      untilEnd(c, runId).then(() => readFrames(c.url, runId)),
    ])
    const frames = await whole
    expect(frames).toHaveLength(152)
    expect(frames.map((frame) => /^id: (\d+)$/m.exec(frame)?.[1])).toEqual(frames.map((_, place) => `${place + 1}`))
    expect(before).toEqual(frames.slice(0, 20))
    expect(atB).toEqual(frames.slice(20))
    expect(atC).toEqual(frames.slice(7))
    expect(late).toEqual(frames)
  })

  test('wait for an approval, which any instance may give', async () => {
    const paused = await a.client.agents.run('careful', { input: 'pay' })
    expect(paused.status).toBe('input_required')
    const { waiting } = await b.client.runs.get(paused.run_id)
    expect(waiting).toMatchObject([{ kind: 'approval', tool: 'pay' }])
    const done = await b.client.runs.resume(paused.run_id, { approved: true })
    expect(done).toMatchObject({ status: 'completed', content: 'It is paid.' })
    // The same answer again, elsewhere, gets the run that the first one has resumed.
    expect(await c.client.runs.resume(paused.run_id, { approved: true })).toMatchObject({
      run_id: paused.run_id,
      status: 'completed',
      content: 'It is paid.',
    })
    await expect(c.client.runs.resume(paused.run_id, { approved: false })).rejects.toMatchObject({ code: 'conflict' })
  })

  test('resume a workflow elsewhere with the results of its steps', async () => {
    const paused = await a.client.agents.run('order', { input: 'tea' })
    expect(paused.status).toBe('input_required')
    const resumed = await Promise.allSettled(
      [b, c].map(({ client }) => client.runs.resume(paused.run_id, { approved: true })),
    )
    for (const result of resumed) {
      if (result.status === 'fulfilled') expect(['running', 'completed']).toContain(result.value.status)
      else expect(result.reason).toMatchObject({ code: 'conflict' })
    }
    await expect
      .poll(async () => (await a.client.runs.get(paused.run_id)).content, { timeout: 10_000 })
      .toBe('first of tea, second of tea')
    const frames = await Promise.all([a, b, c].map(({ url }) => readFrames(url, paused.run_id)))
    expect(frames[1]).toEqual(frames[0])
    expect(frames[2]).toEqual(frames[0])
    const steps = frames[0]?.filter((frame) => frame.includes('event: step_start'))
    expect(steps).toHaveLength(2)
  })

  test('are one for a key that is used at once on all three', async () => {
    const body = { input: '20 20 keyed' }
    const headers = { 'idempotency-key': 'once' }
    const asked = await Promise.all([a, b, c].map(({ url }) => ask(url, '/agents/ticking/run', { body, headers })))
    for (const { status, body, headers } of asked) {
      expect([200, 409]).toContain(status)
      if (status === 409) expect([body.error.code, headers.has('retry-after')]).toEqual(['conflict', true])
    }
    expect(asked.filter(({ status }) => status === 200)).not.toHaveLength(0)
    const again = await Promise.all([a, b, c].map(({ url }) => ask(url, '/agents/ticking/run', { body, headers })))
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200])
    const ids = [...asked, ...again].flatMap(({ body }) => body.run_id ?? body.error.run_id ?? [])
    expect(new Set(ids).size).toBe(1)
    for (const { body } of again) expect(body).toEqual(again[0]?.body)
    const other = await ask(b.url, '/agents/ticking/run', { body: { input: 'other' }, headers })
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_mismatch'])
  })

  test('create one session for a key that is used at once on all three', async () => {
    const headers = { 'idempotency-key': 'session-once' }
    const create = ({ url }: Instance) => ask(url, '/sessions', { body: { name: 'one' }, headers })
    const asked = await Promise.all([a, b, c].map(create))
    const again = await Promise.all([a, b, c].map(create))
    expect(again.map(({ status }) => status)).toEqual([201, 201, 201])
    const ids = [...asked, ...again].flatMap(({ body }) => body.session_id ?? [])
    expect(new Set(ids).size).toBe(1)
  })

  test('are joined when the same A2A message is sent to all three, streamed and not', async () => {
    const message = { agentId: 'ticking', content: '60 10 joined', messageId: 'm1', contextId: 'joined' } as const
    const streamed = await a.client.a2a.stream({ ...message, onDisconnect: 'continue' })
    const text = async (stream: AsyncIterable<{ type: string; content?: string }>) => {
      let all = ''
      for await (const event of stream) all += event.content ?? ''
      return all
    }
    const first = text(streamed as AsyncIterable<{ type: string }>)
    const again = await b.client.a2a.stream({ ...message, onDisconnect: 'continue' })
    const [one, two, task] = await Promise.all([
      first,
      text(again as AsyncIterable<{ type: string }>),
      c.client.a2a.send({ ...message, onDisconnect: 'continue' }),
    ])
    expect(again.runId).toBe(streamed.runId)
    expect(task.taskId).toBe(streamed.runId)
    expect(one).toContain('fragment 59. ')
    expect(two).toBe(one)
    expect(task.messages.flatMap(({ parts }) => parts.map(({ content }) => content)).join('')).toBe(one)
  })
})
