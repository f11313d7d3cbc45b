import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, claimOf, startOf } from './builders.ts'

export function testSchedules(store: () => SessionStore): void {
  const stateOf = async (name: string) => (await store().listSchedules()).find((state) => state.name === name)

  describe('schedules', () => {
    it('keep what they were opened with, and forget due times of another rule', async () => {
      const fresh = { name: 'a', rule: 'r1', run_id: null, run_at: null, skipped_at: null, paused: false }
      expect(await store().openSchedule('a', 'r1', at(10))).toEqual({ ...fresh, handled_until: at(10) })
      expect(await store().openSchedule('a', 'r1', at(20))).toEqual({ ...fresh, handled_until: at(10) })
      const other = { ...fresh, rule: 'r2', handled_until: at(30) }
      expect(await store().openSchedule('a', 'r2', at(30))).toEqual(other)
      await store().openSchedule('é\'"', 'r', at(1))
      expect((await store().listSchedules()).map(({ name }) => name)).toEqual(['a', 'é\'"'])
    })

    it('move to later due times, and back only when a clock was wrong', async () => {
      await store().openSchedule('a', 'r', at(10))
      await store().settleSchedule('a', { due_at: at(20), at: at(21), run_id: 'run_1' })
      const first = { handled_until: at(20), run_id: 'run_1', run_at: at(21), skipped_at: null }
      expect(await stateOf('a')).toMatchObject(first)
      await store().settleSchedule('a', { due_at: at(15), at: at(22), run_id: null, skipped: true })
      expect(await stateOf('a')).toMatchObject({ ...first, skipped_at: at(15) })
      await store().settleSchedule('a', { due_at: null, at: at(23), run_id: 'run_2' })
      expect(await stateOf('a')).toMatchObject({ handled_until: at(20), run_id: 'run_2', run_at: at(23) })
      await store().settleSchedule('a', { due_at: at(900), at: at(900), run_id: null })
      await store().settleSchedule('a', { due_at: at(30), at: at(31), run_id: null })
      expect(await stateOf('a')).toMatchObject({ handled_until: at(30), run_id: 'run_2' })
      await store().settleSchedule('none', { due_at: at(1), at: at(1), run_id: null })
      expect(await stateOf('none')).toBeUndefined()
    })

    it('pause, and make up for nothing when they go on', async () => {
      await store().openSchedule('a', 'r', at(10))
      expect(await store().pauseSchedule('a', true, at(20))).toMatchObject({ paused: true })
      expect(await store().pauseSchedule('a', false, at(90))).toMatchObject({ paused: false, handled_until: at(90) })
      expect(await store().pauseSchedule('a', false, at(99))).toMatchObject({ handled_until: at(90) })
      expect(await store().openSchedule('a', 'r', at(100))).toMatchObject({ handled_until: at(90) })
      expect(await store().pauseSchedule('none\0', true, at(1))).toBeUndefined()
    })

    it('start one run for a due time, however many ask at once and whatever restarts between', async () => {
      const claim = claimOf('schedule a 2030-01-01T00:00:10.000Z')
      const starts = Array.from({ length: 8 }, () => store().startRun(startOf({ claim })))
      const outcomes = (await Promise.all(starts)).map(({ outcome }) => outcome)
      expect(outcomes.filter((outcome) => outcome === 'started')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(7)
      await store().close()
      await store().open()
      await store().recover('two', at(50))
      expect((await store().startRun(startOf({ claim }))).outcome).toBe('claimed')
    })

    it('outlive a restart', async () => {
      await store().openSchedule('a', 'r', at(10))
      await store().settleSchedule('a', { due_at: at(20), at: at(21), run_id: 'run_1' })
      const before = await store().listSchedules()
      await store().close()
      await store().open()
      await store().recover('two', at(50))
      expect(await store().listSchedules()).toEqual(before)
    })
  })
}
