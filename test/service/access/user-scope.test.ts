import { expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import type { Runnable } from '../../../src/core/runnable.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { systemTimers } from '../../../src/runtime/timers.ts'
import { createFacts } from '../../../src/service/access/facts.ts'
import { createUsers } from '../../../src/service/access/user-data.ts'
import { scopeToUser } from '../../../src/service/access/user-scope.ts'
import { unaudited } from '../../../src/service/audit/audit.ts'
import { createOnce } from '../../../src/service/idempotency.ts'
import { ScheduleService } from '../../../src/service/schedules/schedules.ts'
import { createSummaries } from '../../../src/service/sessions/summaries.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { echo, gate, openServices, request } from '../../support/services.ts'

async function openScoped(store: SessionStore, entities: Record<string, Runnable> = {}) {
  const services = await openServices({ echo, ...entities }, store)
  const common = { store, clock: Date.now, logger: silentLogger }
  const once = createOnce(store, Date.now, silentLogger)
  const summaries = createSummaries({ ...common, summarizer: undefined, timeoutMs: 1 })
  const schedules = new ScheduleService([], { ...common, runs: () => services.runs, timers: systemTimers })
  const users = createUsers({ ...services, clock: Date.now })
  const as = (user: string) =>
    scopeToUser(
      {
        ...services,
        summaries,
        users,
        facts: createFacts(store),
        schedules,
        once,
        backup: () => emptyArchive(),
        ...unaudited,
        logger: silentLogger,
      },
      store,
      user,
    )
  return { ...services, ann: as('ann'), bob: as('bob') }
}

test('the run of another does not exist, whether its session is there or gone', async () => {
  let isGone = false
  const store = memoryStore()
  const findSession = async (id: string) => (isGone ? undefined : store.findSession(id))
  const { ann, bob } = await openScoped({ ...store, findSession })
  const handle = await bob.runs.start(request('echo', 'x'))
  await handle.result()
  const runId = handle.runId
  for (const gone of [false, true]) {
    isGone = gone
    expect((await bob.runs.get(runId))?.run_id).toBe(runId)
    await expect(ann.runs.get(runId)).rejects.toMatchObject({ code: 'run_not_found' })
  }
})

test('the active run of a session is told to its present user alone', async () => {
  const { runnable: slow, begun, open } = gate()
  const { ann, bob, sessions } = await openScoped(memoryStore(), { slow })
  const { session } = await ann.sessions.create({})
  const sessionId = session.session_id
  const active = async () =>
    Promise.all([ann, bob, { sessions }].map(async (one) => (await one.sessions.active(sessionId))?.run_id))
  expect(await active()).toEqual([undefined, undefined, undefined])
  const first = await ann.runs.start(request('slow', 'x', { sessionId }))
  await begun(0)
  const id = first.runId
  expect(await active()).toEqual([id, undefined, id])
  const queued = await ann.runs.start(request('slow', 'y', { sessionId, mode: 'background' }))
  expect(await active()).toEqual([queued.runId, undefined, queued.runId])
  await sessions.reuse(sessionId, { user_id: 'bob' })
  expect(await active()).toEqual([undefined, queued.runId, queued.runId])
  open(0)
  open(1)
  await Promise.all([first.result(), queued.result()])
  expect(await active()).toEqual([undefined, undefined, undefined])
  expect(await bob.sessions.active('none')).toBeUndefined()
})

async function* emptyArchive(): AsyncGenerator<Uint8Array> {}
