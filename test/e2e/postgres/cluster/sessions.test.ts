import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { LiveEvent } from '../../../../src/client/index.ts'
import { createPicture, listedBy } from '../../../support/client/picture.ts'
import type { Instance, Instances } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'

describePostgres('sessions of three instances', () => {
  let instances: Instances
  let [a, b, c] = [] as unknown as [Instance, Instance, Instance]
  ownInstances({ names: ['a', 'b', 'c'] }, (all, made) => {
    ;[a, b, c] = all
    instances = made
  })

  const start = (instance: Instance, sessionId: string, input: string, more: object = {}) =>
    instance.client.agents.background('ticking', { input, session_id: sessionId, ...more })
  const find = async (runId: string, instance = c) => instance.client.runs.get(runId)

  test('run one thing after the other, whichever instance was asked', async () => {
    await a.client.sessions.create({ session_id: 'queue' })
    const ids: string[] = []
    for (const instance of [a, b, c, b, a, c]) ids.push((await start(instance, 'queue', '10 10 queue')).run_id)
    await expect.poll(async () => (await find(ids.at(-1) ?? '')).status, { timeout: 20_000 }).toBe('completed')
    const runs = await Promise.all(ids.map((id) => find(id)))
    expect(runs.map(({ status }) => status)).toEqual(ids.map(() => 'completed'))
    const noted = (await readFile(instances.effects, 'utf8')).split('\n').filter((line) => line.includes(' queue '))
    const [begun, ended] = ['begin', 'end'].map((what) => noted.filter((line) => line.includes(` ${what} `)))
    expect(noted).toEqual(ids.flatMap((_, place) => [begun?.[place], ended?.[place]]))
    expect(begun?.map((line) => line.split(' ')[2])).toEqual(ids)
    const { messages } = await b.client.sessions.history('queue')
    expect(messages.filter(({ role }) => role === 'user').map(({ run_id }) => run_id)).toEqual(ids)
  })

  test('refuse a run with the strategy reject while another instance runs one', async () => {
    await a.client.sessions.create({ session_id: 'reject' })
    const first = await start(a, 'reject', '10000 10 reject')
    await expect(start(b, 'reject', '1 0', { multitask_strategy: 'reject' })).rejects.toMatchObject({
      code: 'conflict',
    })
    await expect(start(a, 'reject', '1 0', { multitask_strategy: 'reject' })).rejects.toMatchObject({
      code: 'conflict',
    })
    await c.client.runs.cancel(first.run_id)
    const free = await b.client.agents.run('ticking', {
      input: '1 0',
      session_id: 'reject',
      multitask_strategy: 'reject',
    })
    expect(free.status).toBe('completed')
  })

  test('let a run with the strategy interrupt end those of the other instances', async () => {
    await a.client.sessions.create({ session_id: 'interrupt' })
    const first = await start(a, 'interrupt', '10000 10 first')
    const second = await start(b, 'interrupt', '10000 10 second')
    const last = await c.client.agents.run('ticking', {
      input: '3 0 last',
      session_id: 'interrupt',
      multitask_strategy: 'interrupt',
    })
    expect(last).toMatchObject({ status: 'completed', content: 'fragment 0. fragment 1. fragment 2. ' })
    for (const { run_id: runId } of [first, second])
      expect(await find(runId)).toMatchObject({ status: 'cancelled', cancellation_reason: 'superseded' })
  })

  test('are changed under If-Match by one instance and not by the next with the same tag', async () => {
    await a.client.sessions.create({ session_id: 'tagged', name: 'zero' })
    const { etag } = await b.client.sessions.getTagged('tagged')
    const changes = await Promise.allSettled(
      [a, b, c].map(({ client, name }) => client.sessions.update('tagged', { name }, { ifMatch: etag })),
    )
    const [won, ...more] = changes.flatMap((change) => (change.status === 'fulfilled' ? change.value.name : []))
    expect(more).toEqual([])
    for (const change of changes)
      if (change.status === 'rejected') expect(change.reason).toMatchObject({ code: 'precondition_failed' })
    const tags = await Promise.all([a, b, c].map(({ client }) => client.sessions.getTagged('tagged')))
    expect(tags.map(({ session }) => session.name)).toEqual([won, won, won])
    expect(new Set(tags.map((tagged) => tagged.etag)).size).toBe(1)
    expect(tags[0]?.etag).not.toBe(etag)
  })

  test('give an agent the history and the state that other instances have made', async () => {
    await a.client.sessions.create({ session_id: 'recalled' })
    for (const [turn, instance] of [a, b, c, a, b, c].entries()) {
      const answer = await instance.client.agents.run('recall', { input: 'again', session_id: 'recalled' })
      expect(answer.content, `turn ${turn}`).toBe(`${turn * 2} ${JSON.stringify(turn === 0 ? {} : { turn: turn - 1 })}`)
      await [b, c, a][turn % 3]?.client.sessions.update('recalled', { state: { turn } })
    }
  })

  test('are gone on every instance once one has deleted them, with the run that another had', async () => {
    await a.client.sessions.create({ session_id: 'gone' })
    const { run_id: runId } = await start(b, 'gone', '10000 10 gone')
    await c.client.sessions.delete('gone')
    for (const { client } of [a, b, c]) {
      await expect(client.sessions.get('gone')).rejects.toMatchObject({ code: 'session_not_found' })
      await expect(client.runs.get(runId)).rejects.toMatchObject({ code: 'run_not_found' })
    }
    await a.client.sessions.create({ session_id: 'gone' })
    expect(await b.client.agents.run('ticking', { input: '1 0', session_id: 'gone' })).toMatchObject({
      status: 'completed',
    })
  })

  test('are found by their words on every instance', async () => {
    const { session_id: sessionId } = await a.client.agents.run('echo', { input: 'A marmalade of quinces' })
    for (const { client } of [b, c, a]) {
      const { messages } = await client.sessions.search('quinces marmal*')
      expect(new Set(messages.map((message) => message.session_id))).toEqual(new Set([sessionId]))
      expect(messages).toHaveLength(2)
    }
    await c.client.sessions.delete(sessionId)
    for (const { client } of [a, b]) expect((await client.sessions.search('quinces')).messages).toEqual([])
  })

  test('are told by the live stream of each instance, whichever has changed them', async () => {
    const leaving = new AbortController()
    const { run_id: runId } = await start(b, (await b.client.sessions.create({})).session_id, '100 20 live')
    const readers = [a, b, c].map(({ client }) => ({ picture: createPicture(client), client }))
    const reading = readers.map(async ({ picture, client }) => {
      for await (const event of client.live({ follow: [runId], signal: leaving.signal })) await picture.add(event)
    })
    const ended = Promise.allSettled(reading)
    const greeted = () => readers.every(({ picture }) => picture.events.some(({ type }) => type === 'hello'))
    await expect.poll(greeted, { timeout: 10_000 }).toBe(true)
    for (const { client, name } of [a, b, c]) {
      await client.sessions.create({ session_id: `live-${name}`, name: 'before' })
      await client.agents.run('echo', { input: 'hello', session_id: `live-${name}` })
      await client.sessions.update(`live-${name}`, { name: 'after' })
    }
    await b.client.sessions.delete('live-a')
    const listed = await listedBy(a.client)
    for (const { picture } of readers) {
      await expect.poll(() => picture.sessions.get('live-c'), { timeout: 10_000 }).toBe('after 1')
      await expect.poll(() => new Map(picture.sessions), { timeout: 10_000 }).toEqual(listed)
      const seqs = () => seqsOf(picture.events, runId)
      await expect.poll(() => seqs().length, { timeout: 20_000 }).toBe(102)
      expect(seqs()).toEqual(Array.from({ length: 102 }, (_, place) => place + 1))
    }
    leaving.abort()
    await ended
  })
})

function seqsOf(events: readonly LiveEvent[], runId: string): number[] {
  return events.flatMap((event) => (event.type === 'run_event' && event.event.run_id === runId ? event.event.seq : []))
}
