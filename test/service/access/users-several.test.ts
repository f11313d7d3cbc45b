import { afterEach, beforeEach, expect, test } from 'vitest'
import { createUsers } from '../../../src/service/access/user-data.ts'
import { type TestInstance, TestInstances } from '../../support/instances.ts'
import { gate, request } from '../../support/services.ts'

let world: TestInstances
beforeEach(() => {
  world = new TestInstances()
})
afterEach(() => world.close())

const usersOf = ({ store, sessions, runs }: TestInstance) => createUsers({ store, sessions, runs, clock: Date.now })

test('a user is erased with the runs that another server has, in own sessions and in those of others', async () => {
  const { runnable: slow, begun } = gate()
  const [a, b] = await world.pair({ slow })
  await a.sessions.create({ session_id: 'own', user_id: 'ann' })
  await a.sessions.create({ session_id: 'shared' })
  const start = (sessionId: string) =>
    a.runs.start(request('slow', 'a secret', { sessionId, userId: 'ann', mode: 'background' }))
  const [own, elsewhere] = [await start('own'), await start('shared')]
  const contexts = [await begun(0), await begun(1)]
  await world.until(usersOf(b).erase('ann'))
  expect(contexts.map(({ signal }) => signal.aborted)).toEqual([true, true])
  expect(await b.store.findRun(own.runId)).toBeUndefined()
  expect(await b.store.findRun(elsewhere.runId)).toMatchObject({ status: 'cancelled', messages: [], user_id: null })
  await world.advance(1_000)
  expect(await a.store.findSession('own')).toBeUndefined()
  expect([a.runs.active, a.told]).toEqual([0, []])
})
