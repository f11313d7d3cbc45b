import { expect, test } from 'vitest'
import type { AgainOf } from '../../../src/core/run.ts'
import type { SessionPiece } from '../../../src/service/services.ts'
import { createReading } from '../../../src/service/sessions/shared-reading.ts'
import { at, endOf, seedOf, started, startOf } from '../../contract/session-store/builders.ts'
import { echo, openServices } from '../../support/services.ts'

const again = (runId: string, keep: AgainOf['keep']): AgainOf => ({ run_id: runId, from: null, after: 'ask', keep })

/** A turn, a try of it with a child run, and a turn that took its place. */
async function opened() {
  const services = await openServices({ echo })
  const { store } = services
  await store.createSession(seedOf({ session_id: 's', user_id: 'ann' }))
  const say = async (againOf: AgainOf | null, more: { parent_run_id?: string } = {}) => {
    const { runId } = await started(store, { run: { session_id: 's', again_of: againOf, ...more }, session: null })
    await store.finishRun(endOf(runId))
    return runId
  }
  const first = await say(null)
  const tried = await say(again(first, 'no'))
  await say(again(first, 'no'), { parent_run_id: tried })
  const second = startOf({ run: { session_id: 's', again_of: again(first, 'replace') }, session: null })
  await store.startRun({ ...second, replaces: first })
  await store.finishRun(endOf(second.run.run_id))
  return { ...services, say, first, tried, second: second.run.run_id }
}

test('leaves tries out of exports and forks, and keeps what a turn repeats where that is copied too', async () => {
  const { sessions, store, first, tried, second } = await opened()
  const exported: SessionPiece[] = []
  for await (const piece of await sessions.export('s', true)) exported.push(piece)
  const runs = exported.flatMap((piece) => ('run' in piece ? piece.run : []))
  expect(runs.map(({ run_id, again_of }) => [run_id, again_of])).toEqual([
    [first, null],
    [second, again(first, 'replace')],
  ])

  const whole = (await sessions.fork('s', {})).session
  expect(whole.run_count).toBe(2)
  expect(whole.runs[1]?.again_of).toEqual(again(whole.runs[0]?.run_id ?? '', 'replace'))
  const { items } = await store.listRuns({ session_id: whole.session_id, again: true }, { limit: 9 })
  expect(items).toHaveLength(2)

  const conversation = (await sessions.fork('s', { runId: second })).session
  expect(conversation.runs.map(({ again_of }) => again_of)).toEqual([null])
  await expect(sessions.fork('s', { runId: tried })).rejects.toMatchObject({ code: 'invalid_request' })
})

test('shows a try to those who have its session, and to nobody who had it earlier', async () => {
  const { sessions, runs, store, say, first } = await opened()
  await store.shareSession('s', { user_id: 'bob' }, at(9))
  const { runId } = await started(store, {
    run: { session_id: 's', again_of: again(first, 'no'), user_id: 'bob' },
    session: null,
  })
  await say(again(first, 'no'), { parent_run_id: runId })
  const as = (user: string) => createReading({ sessions, runs }, store, user)
  const listed = async (user: string) =>
    (await as(user).runs({ session_id: 's', again: true }, { limit: 9 })).items.map(({ run_id }) => run_id)
  expect(await listed('bob')).toContain(runId)
  expect(await listed('ann')).not.toContain(runId)
  await expect(as('ann').run(runs.get(runId), runId)).rejects.toMatchObject({ code: 'run_not_found' })
  expect(await as('bob').run(runs.get(runId), runId)).toMatchObject({ run_id: runId })
})
