import { describe, expect, it } from 'vitest'
import type { PushConfig, PushDuty } from '../../../src/core/push.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, seedOf, started } from './builders.ts'

export function testPush(store: () => SessionStore): void {
  const configOf = (runId: string, id = 'a', more: Partial<PushConfig> = {}): PushConfig => ({
    run_id: runId,
    config_id: id,
    url: `https://hooks.test/${id}?x=%00&y='"`,
    token: 'a token',
    authentication: { scheme: 'Bearer', credentials: 'se"cret' },
    version: '1.0',
    created_at: at(1),
    ...more,
  })
  async function saved(config: PushConfig, owner = 'one'): Promise<PushDuty> {
    const answer = await store().savePushConfig(config, owner, 3)
    if (typeof answer === 'string') throw new Error(answer)
    return answer
  }
  const idsOf = async (runId: string) => (await store().listPushConfigs(runId)).map(({ config_id }) => config_id)

  describe('push configs', () => {
    it('gives them back as they were saved, sorted by id', async () => {
      const { runId } = await started(store())
      const bare = configOf(runId, 'b', { token: null, authentication: null, version: '0.3' })
      expect(await saved(bare)).toMatchObject({ ...bare, failures: 0 })
      expect(await saved(configOf(runId))).toMatchObject(configOf(runId))
      expect(await store().listPushConfigs(runId)).toEqual([configOf(runId), bare])
      expect(await store().listPushConfigs('run_none')).toEqual([])
    })

    it('replaces one of the same id, and keeps no more than the maximum of a run', async () => {
      const { runId } = await started(store())
      const first = await saved(configOf(runId))
      const second = await saved(configOf(runId, 'a', { url: 'https://other.test/' }))
      expect(second.fence).toBeGreaterThan(first.fence)
      expect(await store().listPushConfigs(runId)).toMatchObject([{ url: 'https://other.test/' }])
      const ids = ['b', 'c', 'd', 'e', 'f']
      const answers = await Promise.all(ids.map((id) => store().savePushConfig(configOf(runId, id), 'one', 3)))
      expect(answers.filter((answer) => answer === 'full')).toHaveLength(3)
      expect(await idsOf(runId)).toHaveLength(3)
      expect(await store().savePushConfig(configOf(runId), 'one', 3)).toMatchObject({ config_id: 'a' })
      expect(await store().savePushConfig(configOf('run_none'), 'one', 3)).toBe('missing')
    })

    it('deletes one, once', async () => {
      const { runId } = await started(store())
      await saved(configOf(runId))
      await saved(configOf(runId, 'b'))
      expect(await store().deletePushConfig(runId, 'a')).toBe(true)
      expect(await store().deletePushConfig(runId, 'a')).toBe(false)
      expect(await idsOf(runId)).toEqual(['b'])
    })

    it('deletes them with their session, and finds none that was deleted', async () => {
      const { runId, sessionId } = await started(store())
      await store().finishRun(endOf(runId))
      await saved(configOf(runId))
      await store().deleteSession(sessionId)
      expect(await idsOf(runId)).toEqual([])
      expect(await store().takePushConfigs(runId, 'one')).toEqual([])
      expect(await store().adoptPushConfigs('two', 9)).toEqual([])
      expect(await store().savePushConfig(configOf(runId), 'one', 3)).toBe('missing')
    })

    it('deletes those of runs that may go on, in the commit that gives their session to another user', async () => {
      const kept: string[] = []
      const gone: string[] = []
      await store().createSession(seedOf({ session_id: 's', user_id: 'ann' }))
      for (const status of ['completed', 'input_required', 'interrupted', 'cancelled', 'failed', 'running'] as const) {
        const { runId } = await started(store(), { run: { session_id: 's' }, session: null })
        if (status !== 'running') await store().finishRun(endOf(runId, { status }))
        await saved(configOf(runId))
        ;(['completed', 'cancelled', 'failed'].includes(status) ? kept : gone).push(runId)
      }
      const all = async (ids: string[]) => (await Promise.all(ids.map(idsOf))).map(({ length }) => length)
      await store().shareSession('s', { user_id: 'ann' }, at(5))
      await store().shareSession('s', { agent_id: 'other' }, at(6))
      expect([await all(kept), await all(gone)]).toEqual([
        [1, 1, 1],
        [1, 1, 1],
      ])
      await store().shareSession('s', { user_id: 'bob' }, at(7))
      expect([await all(kept), await all(gone)]).toEqual([
        [1, 1, 1],
        [0, 0, 0],
      ])
    })

    it('deletes those of runs that lose their content when a user is erased', async () => {
      await store().createSession(seedOf({ session_id: 'shared', user_id: 'bob' }))
      const run = { session_id: 'shared', user_id: 'ann' }
      const { runId } = await started(store(), { run, session: null })
      await store().finishRun(endOf(runId))
      const other = await started(store(), { run: { session_id: 'shared', user_id: 'bob' }, session: null })
      await saved(configOf(runId))
      await saved(configOf(other.runId))
      while ((await store().eraseUser('ann', 5)) > 0);
      expect(await idsOf(runId)).toEqual([])
      expect(await idsOf(other.runId)).toEqual(['a'])
    })

    it('lets only the newest sender settle a notification', async () => {
      const { runId } = await started(store())
      const first = await saved(configOf(runId))
      const [second] = await store().takePushConfigs(runId, 'two')
      expect(second).toMatchObject(configOf(runId))
      expect(await store().settlePushConfig(first, { failures: 1, unsent: true })).toBe(false)
      expect(await store().settlePushConfig(second as PushDuty, { failures: 2, unsent: true })).toBe(true)
      expect(await store().takePushConfigs(runId, 'three')).toMatchObject([{ failures: 2 }])
      expect(await store().takePushConfigs('run_none', 'two')).toEqual([])
    })

    it('gives what a process has left unsent to one that comes later, each once', async () => {
      const ids: string[] = []
      for (let n = 0; n < 3; n++) {
        const { runId } = await started(store())
        await store().finishRun(endOf(runId))
        await saved(configOf(runId))
        ids.push(runId)
      }
      const done = await started(store())
      await store().settlePushConfig(await saved(configOf(done.runId)), { failures: 0, unsent: false })
      await store().close()
      await store().open()
      await store().recover('two', at(9))
      const taken = [await store().adoptPushConfigs('two', 2), await store().adoptPushConfigs('two', 2)]
      expect(taken.map((found) => found.length)).toEqual([2, 1])
      expect(new Set(taken.flat().map(({ run_id }) => run_id))).toEqual(new Set(ids))
      expect(taken[0]?.[0]).toMatchObject({ authentication: { credentials: 'se"cret' }, token: 'a token' })
      expect(await store().adoptPushConfigs('two', 2)).toEqual([])
    })

    it('has them in no copy of a session', async () => {
      const { runId, sessionId } = await started(store())
      await store().finishRun(endOf(runId))
      await saved(configOf(runId))
      const found = [await store().findSession(sessionId), await store().readRecords(sessionId, undefined, 9)]
      expect(JSON.stringify(found)).not.toContain('hooks.test')
    })
  })
}
