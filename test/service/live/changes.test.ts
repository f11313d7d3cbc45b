import { expect, test } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { type ChangeListener, watchStore } from '../../../src/service/live/changes.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { openServices, request, runnable } from '../../support/services.ts'

function hearing() {
  const heard: string[] = []
  const hear =
    (what: string) =>
    (...said: unknown[]) =>
      void heard.push([what, ...said].join(' '))
  const listener: ChangeListener = {
    run: (runId, going) => hear(going === undefined ? 'run' : `run in ${going.session_id}`)(runId),
    session: hear('session'),
    runs: hear('runs'),
    turns: hear('turns'),
    deleted: hear('deleted'),
    lists: hear('lists'),
  }
  return { heard, listener }
}

const asking = runnable(async function* (_input, { resumed }) {
  yield resumed === undefined ? { type: 'input_required', call_id: 'may', prompt: 'May I?' } : 'Thanks.'
})

test('hears of every write that changes a list, and of none while nothing listens', async () => {
  const { store, changes } = watchStore(memoryStore())
  const { heard, listener } = hearing()
  const { runs, sessions } = await openServices({ asking }, store)
  await sessions.create({ session_id: 'before' })
  expect(heard).toEqual([])
  await changes.listen(listener)
  const taken = () => [...new Set(heard.splice(0))]

  await sessions.create({ session_id: 's', user_id: 'ann' })
  expect(taken()).toEqual(['session s'])
  const asked = await (await runs.start(request('asking', 'x', { sessionId: 's' }))).result()
  const run = `run ${asked.run_id}`
  expect(taken()).toEqual([`run in s ${asked.run_id}`, run])
  await (await runs.resume(asked.run_id, { approved: true, mode: 'plain' })).result()
  expect(taken()).toEqual([`run in s ${asked.run_id}`, run])
  const replaced = { sessionId: 's', replaces: asked.run_id }
  const second = await (await runs.start(request('asking', 'y', replaced))).result()
  expect(taken()).toEqual([`run in s ${second.run_id}`, `turns ${second.run_id}`, `run ${second.run_id}`])
  await runs.cancel(second.run_id)
  expect(taken()).toContain(`run ${second.run_id}`)
  await sessions.update('s', { name: 'n' })
  expect(taken()).toEqual(['session s'])
  await sessions.reuse('s', { user_id: 'bob' })
  expect(taken()).toEqual(['session s', 'lists shared ann'])
  await sessions.unshare('s', 'user', 'ann')
  expect(taken()).toEqual(['lists shared ann', 'session s'])
  const copy = await sessions.fork('s', {})
  expect(taken()).toEqual([`runs ${copy.session.session_id}`])
  await sessions.delete('s')
  expect(taken()).toEqual(['deleted s bob'])
  await sessions.prune({ olderThan: '2999-01-01T00:00:00.000Z', filter: {} })
  expect(taken()).toEqual(['lists pruned'])
  changes.stop()
  await sessions.create({ session_id: 'after' })
  expect(heard).toEqual([])
})

test('leaves a write as it is: its answer, its error, and methods of a class', async () => {
  class Store {
    readonly name = 'own'
    readonly #inner = memoryStore()
    async open() {
      await this.#inner.open()
    }
    async check() {
      throw new Error('it can not write')
    }
    async createSession(...seed: Parameters<SessionStore['createSession']>) {
      return this.#inner.createSession(...seed)
    }
    async findSession(sessionId: string) {
      return this.#inner.findSession(sessionId)
    }
    async beginRun() {
      throw new Error('it is full')
    }
  }
  const { store, changes } = watchStore(new Store() as unknown as SessionStore)
  const { heard, listener } = hearing()
  await store.open()
  await changes.listen(listener)
  const seed = {
    agent_id: null,
    team_id: null,
    workflow_id: null,
    user_id: null,
    name: null,
    metadata: null,
    state: null,
  }
  const at = '2026-01-05T09:30:00.000Z'
  expect(store.name).toBe('own')
  const made = await store.createSession({ session_id: 's', ...seed, created_at: at })
  expect(made).toEqual(await store.findSession('s'))
  await expect(store.createSession({ session_id: 's', ...seed, created_at: at })).rejects.toMatchObject({
    code: 'conflict',
  })
  await expect(store.beginRun('r', 1, at)).rejects.toThrow('it is full')
  expect(heard).toEqual(['session s'])
})
