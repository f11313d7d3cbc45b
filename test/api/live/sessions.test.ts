import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, type LiveEvent } from '../../../src/client/index.ts'
import { readLive as read } from '../../support/client/live-reading.ts'
import { type People, withPeople } from '../access/people.ts'

let people: People
beforeAll(async () => {
  const keys = [
    'key-of-operator',
    { key: 'key-of-ann', userId: 'ann', scopes: ['run', 'sessions'] as const },
    { key: 'key-of-lists', userId: 'lists', scopes: ['sessions'] as const },
  ]
  people = await withPeople([], { auth: { keys } } as object)
})
afterAll(() => people.server.close())

const clientOf = (who: string) => createClient({ url: people.server.url, apiKey: `key-of-${who}` })
const hello = (events: readonly LiveEvent[]) => events.some(({ type }) => type === 'hello')
const eventsOf = (events: readonly LiveEvent[]) =>
  events.flatMap((event) => (event.type === 'run_event' ? [event.event] : []))
const ended = (events: readonly LiveEvent[]) =>
  new Set(eventsOf(events).flatMap(({ type, run_id: runId }) => (type === 'run_end' ? [runId] : [])))

test('a run that begins in a followed session comes with its events, and with its members if wanted', async () => {
  const client = clientOf('operator')
  const whole = read(client, { followSessions: ['one', 's'], children: true })
  const alone = read(client, { followSessions: ['s'] })
  await Promise.all([whole, alone].map((one) => one.until(hello)))
  await client.sessions.create({ session_id: 's' })
  const { run_id } = await client.agents.run('pair', { input: 'to the team', session_id: 's' })
  await whole.until((events) => ended(events).size === 2)
  await alone.until((events) => ended(events).has(run_id))
  const recorded = await people.operator('GET', `/api/v1/runs/${run_id}/events`)
  const numbers = [...recorded.text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq))
  for (const { events } of [whole, alone]) {
    const own = eventsOf(events).filter((event) => event.run_id === run_id)
    expect(own.map(({ seq }) => seq)).toEqual(numbers)
    const place = events.findIndex((event) => event.type === 'run_event')
    expect(events[place - 1]).toMatchObject({ type: 'run', run: { run_id } })
  }
  expect(eventsOf(alone.events).every((event) => event.run_id === run_id)).toBe(true)
  await Promise.all([whole.stop(), alone.stop()])
})

test("a user's key gets nothing of the session of another, and that of the user itself whole", async () => {
  const [own, foreign] = ['anns', 'theirs']
  await people.as('ann')('POST', '/api/v1/sessions', { session_id: own })
  await people.operator('POST', '/api/v1/sessions', { session_id: foreign, user_id: 'bob' })
  const ann = read(clientOf('ann'), { followSessions: [own, foreign] as string[] })
  await ann.until(hello)
  const run = async (session_id: string | undefined) =>
    (await people.operator('POST', '/api/v1/agents/echo/run', { input: `in ${session_id}`, session_id })).json.run_id
  await run(foreign)
  const mine = await run(own)
  await ann.until((events) => ended(events).has(mine))
  expect([...ended(ann.events)]).toEqual([mine])
  expect(JSON.stringify(ann.events)).not.toContain(`in ${foreign}`)
  await ann.stop()
})

test('needs the scope of events, and refuses what are no sessions', async () => {
  const get = async (who: string, query: string) => (await people.as(who)('GET', `/api/v1/live${query}`)).status
  expect(await get('lists', '')).toBe(200)
  expect(await get('lists', '?follow_sessions=s')).toBe(403)
  expect(await get('ann', '?follow_sessions=a.b:c,_')).toBe(200)
  for (const wrong of ['', ',', 's,', 'a%20b', 'x'.repeat(129)]) {
    expect(await get('ann', `?follow_sessions=${wrong}`)).toBe(400)
  }
  const many = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`).join(',')
  expect(await get('ann', `?follow_sessions=${many(20)}`)).toBe(200)
  expect(await get('ann', `?follow_sessions=${many(21)}`)).toBe(400)
})
