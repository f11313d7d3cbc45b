import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, type LiveEvent } from '../../../src/client/index.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { readLive as read } from '../../support/client/live-reading.ts'
import { createPicture, listedBy } from '../../support/client/picture.ts'
import { type People, withPeople } from '../access/people.ts'

let people: People
const begun: (() => void)[] = []
beforeAll(async () => {
  const waits = agent({
    async *run({ signal }) {
      yield 'begun'
      await new Promise<void>((resolve) => {
        begun.push(resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      yield ' ended'
    },
  })
  people = await withPeople(['ann', 'bob'], {}, { waits })
})
afterAll(() => people.server.close())

const clientOf = (who: string) => createClient({ url: people.server.url, apiKey: `key-of-${who}` })

const has = (type: LiveEvent['type']) => (events: readonly LiveEvent[]) => events.some((event) => event.type === type)
const about = (id: string) => (events: readonly LiveEvent[]) =>
  events.some((event) => JSON.stringify(event).includes(id))

test('each user sees the own sessions and runs, an operator all, and only an operator the knowledge base', async () => {
  const [ann, bob, operator] = ['ann', 'bob', 'operator'].map((who) => read(clientOf(who)))
  if (!ann || !bob || !operator) throw new Error('none')
  await Promise.all([ann, bob, operator].map((one) => one.until(has('hello'))))
  await people.as('bob')('POST', '/api/v1/agents/echo/run', { input: 'words of bob', session_id: undefined })
  await people.operator('POST', '/api/v1/knowledge/content', { content: 'a text' })
  const session = (await people.as('ann')('POST', '/api/v1/sessions', { session_id: 'of-ann' })).json
  await ann.until(about(session.session_id))
  await operator.until(about('words of bob'))
  await operator.until(about('of-ann'))
  await operator.until(has('knowledge'))
  await bob.until(about('words of bob'))
  for (const one of [ann, bob]) expect(has('knowledge')(one.events)).toBe(false)
  expect(about('words of bob')(ann.events)).toBe(false)
  expect(about('of-ann')(bob.events)).toBe(false)
  expect(ann.events[0]).toMatchObject({ type: 'hello', can: { config: false }, mode: 'embedded' })
  await Promise.all([ann.stop(), bob.stop(), operator.stop()])
})

test('a load of the agents that failed is told to an operator, not to the key of a user', async () => {
  const [ann, operator] = ['ann', 'operator'].map((who) => read(clientOf(who)))
  if (!ann || !operator) throw new Error('none')
  await Promise.all([ann, operator].map((one) => one.until(has('hello'))))
  const error = { message: 'no such file', file: 'agents/a.ts', line: 3, excerpt: 'import x' }
  people.server.server.reloadFailed(error)
  await operator.until(has('agents'))
  expect(operator.events.find(({ type }) => type === 'agents')).toEqual({
    ...{ type: 'agents', version: 2, ok: false, error },
  })
  await people.as('ann')('POST', '/api/v1/sessions', { session_id: 'after-the-load' })
  await ann.until(about('after-the-load'))
  const later = read(clientOf('ann'))
  await later.until(has('hello'))
  await people.as('ann')('PUT', '/api/v1/sessions/after-the-load', { name: 'told' })
  await later.until(about('told'))
  for (const one of [ann, later]) expect(has('agents')(one.events)).toBe(false)
  await Promise.all([ann.stop(), later.stop(), operator.stop()])
})

test('a session that is handed over in the middle of a run stops at once for the user before', async () => {
  const ann = people.as('ann')
  const { run_id, session_id } = (await ann('POST', '/api/v1/agents/waits/run', { input: 'x', background: true })).json
  const mine = read(clientOf('ann'), { follow: [run_id] })
  const theirs = read(clientOf('bob'), { follow: [run_id] })
  await mine.until((events) => events.some((event) => event.type === 'run_event' && event.event.type === 'text_delta'))
  await theirs.until(has('hello'))
  await people.operator('POST', `/api/v1/sessions/${session_id}/reuse`, { user_id: 'bob' })
  for (const end of begun.splice(0)) end()
  await mine.until(has('reset'))
  await theirs.until((events) => events.some((event) => event.type === 'run' && event.run.status === 'completed'))
  const { run_id: later } = (await people.as('bob')('POST', '/api/v1/agents/echo/run', { input: 'later', session_id }))
    .json
  await theirs.until(about(later))
  await ann('POST', '/api/v1/sessions', { session_id: 'afterwards' })
  await mine.until(about('afterwards'))
  expect(about('ended')(mine.events)).toBe(false)
  expect(about(later)(mine.events)).toBe(false)
  await Promise.all([mine.stop(), theirs.stop()])
})

test('follows a team and its members, and goes on after the last number of each', async () => {
  const { run_id } = (await people.operator('POST', '/api/v1/agents/pair/run', { input: 'to the team' })).json
  const eventsOf = (events: readonly LiveEvent[]) =>
    events.flatMap((event) => (event.type === 'run_event' ? [event.event] : []))
  const ended = (events: readonly LiveEvent[]) =>
    new Set(eventsOf(events).flatMap(({ type, run_id }) => (type === 'run_end' ? [run_id] : [])))
  const whole = read(clientOf('operator'), { follow: [run_id], children: true })
  await whole.until((events) => ended(events).size === 2)
  const member = [...ended(whole.events)].find((id) => id !== run_id) as string
  const recorded = await people.operator('GET', `/api/v1/runs/${member}/events`)
  const told = eventsOf(whole.events).filter((event) => event.run_id === member)
  expect(told.map(({ seq }) => seq)).toEqual([...recorded.text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq)))
  const rest = read(clientOf('operator'), { follow: { [run_id]: 3, [member]: 2 }, children: true })
  await rest.until((events) => ended(events).size === 2)
  expect(eventsOf(rest.events).length).toBeLessThan(eventsOf(whole.events).length)
  expect(eventsOf(rest.events).filter((event) => event.run_id === member)).toEqual(told.filter(({ seq }) => seq > 2))
  const alone = read(clientOf('operator'), { follow: [run_id] })
  await alone.until((events) => ended(events).size === 1)
  expect(eventsOf(alone.events).every((event) => event.run_id === run_id)).toBe(true)
  await Promise.all([whole.stop(), rest.stop(), alone.stop()])
})

test('needs the scopes of what it is asked for, and refuses what it can not read', async () => {
  const get = async (query: string) => (await people.as('ann')('GET', `/api/v1/live${query}`)).status
  expect(await get('?include=prompts')).toBe(200)
  expect(await get('?follow=run_a:x')).toBe(400)
  expect(await get(`?follow=${Array.from({ length: 201 }, (_, index) => `run_${index}`)}`)).toBe(400)
  expect((await people.server.call('GET', '/api/v1/live')).status).toBe(401)
})

test('refuses a page of another site, which could read nothing but hold all streams of an address', async () => {
  const ask = (headers: Record<string, string>) => fetch(`${people.server.url}/api/v1/live`, { headers })
  const key = { authorization: 'Bearer key-of-ann' }
  for (const site of ['cross-site', 'same-site']) {
    expect((await ask({ ...key, 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' })).status).toBe(403)
  }
  const own = await ask({ ...key, 'sec-fetch-site': 'same-origin' })
  expect(own.status).toBe(200)
  await own.body?.cancel()
})

test('gives a key five streams, and another one when one of them is left', async () => {
  const client = clientOf('bob')
  const open = [1, 2, 3, 4, 5].map(() => read(client))
  for (const one of open) await one.until(has('hello'))
  const refused = await people.as('bob')('GET', '/api/v1/live')
  expect([refused.status, refused.json.error.code]).toEqual([429, 'rate_limited'])
  await open[0]?.stop()
  await expect.poll(async () => (await people.as('bob')('GET', '/api/v1/live')).status).toBe(200)
  await Promise.all(open.map((one) => one.stop()))
})

test('1,000 sessions change: what each of three readers knows is what the lists say, one of them stalled', async () => {
  const client = clientOf('operator')
  const pictures = [1, 2, 3].map(() => createPicture(client))
  let goOn = () => {}
  const stall = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const readers = pictures.map((picture, index) =>
    read(client, {}, async (event) => {
      if (index === 2 && event.type !== 'hello') await stall
      await picture.add(event)
    }),
  )
  for (const one of readers) await one.until(has('hello'))
  const change = async (index: number) => {
    const session_id = `many-${index}`
    await client.sessions.create({ session_id })
    if (index % 2 === 0) await client.agents.run('echo', { input: 'x', session_id })
    if (index % 3 === 0) await client.sessions.update(session_id, { name: `name ${index}` })
    if (index % 7 === 0) await client.sessions.delete(session_id)
  }
  for (let first = 0; first < 1_000; first += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, index) => change(first + index)))
  }
  goOn()
  await client.sessions.create({ session_id: 'last-of-all' })
  for (const one of readers) {
    await one.until((events) => events.some((event) => event.type === 'reset') || about('last-of-all')(events))
  }
  const listed = await listedBy(client)
  for (const picture of pictures) await expect.poll(() => picture.sessions, { timeout: 20_000 }).toEqual(listed)
  for (const one of readers) await one.stop()
}, 120_000)

test('the server ends its streams when it stops, and the client says so when it may not reconnect', async () => {
  const own = await withPeople([])
  const client = createClient({ url: own.server.url, apiKey: 'key-of-operator' })
  const events = client.live({ reconnects: 0 })[Symbol.asyncIterator]()
  expect((await events.next()).value).toMatchObject({ type: 'hello' })
  const next = expect(events.next()).rejects.toMatchObject({ code: 'unavailable' })
  await own.server.close()
  await next
  await client.close()
})
