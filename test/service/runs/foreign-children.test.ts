import { expect, onTestFinished, test } from 'vitest'
import type { RunPiece } from '../../../src/core/session.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import type { SessionPiece } from '../../../src/service/services.ts'
import { cachedStore } from '../../../src/store/cached/cached-store.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { openServices, request } from '../../support/services.ts'

const careful = workflow({ name: 'careful', run: async ({ text, approve }) => `${text}: ${await approve('publish')}` })
const asks = agent({
  async *run({ ask, text }) {
    yield (await ask('careful', text)).text
  },
})
const pair = team({ name: 'pair', members: ['careful'] })

/** The pieces with another id in place of one. */
async function* withId(pieces: readonly SessionPiece[], id: string, other: string): AsyncGenerator<RunPiece> {
  for (const piece of pieces) {
    if ('session' in piece || ('run' in piece && piece.run.parent_run_id !== null)) continue
    if ('events' in piece && piece.run_id === id) continue
    yield JSON.parse(JSON.stringify(piece).replaceAll(id, other)) as RunPiece
  }
}

test.each(['pair', 'asks'])("a brought record of %s can't resume the child of another run", async (entity) => {
  const { runs, sessions, store } = await openServices({ asks, pair, careful }, cachedStore(memoryStore()))
  onTestFinished(async () => {
    await runs.shutdown(0)
    await store.close()
  })
  const pause = async (text: string) => {
    const paused = await (await runs.start(request(entity, text, { mode: 'background' }))).result()
    expect(paused.status).toBe('input_required')
    const [child] = (await runs.list({ parent_run_id: paused.run_id }, { limit: 1 })).items
    return { ...paused, childId: child?.run_id ?? '' }
  }
  const victim = await pause('secret')
  const own = await pause('mine')
  const pieces: SessionPiece[] = []
  for await (const piece of await sessions.export(own.session_id, true)) pieces.push(piece)
  const [head] = pieces
  if (head === undefined || !('session' in head)) throw new Error('An export begins with the session.')
  const copy = { ...head, runs: withId(pieces, own.childId, victim.childId) }
  await sessions.delete(own.session_id)
  await sessions.import(copy, { newIds: false })

  const ended = await (await runs.resume(own.run_id, { approved: true, mode: 'background' })).result()
  expect(JSON.stringify(ended)).not.toContain('secret')
  expect((await runs.get(victim.childId)).status).toBe('input_required')
  const answered = await (await runs.resume(victim.run_id, { approved: true, mode: 'background' })).result()
  expect(answered).toMatchObject({ status: 'completed', error: null })
  expect(answered.messages[1]?.content).toContain('secret')
})
