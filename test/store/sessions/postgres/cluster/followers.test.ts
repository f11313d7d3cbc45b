import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Followers } from '../../../../../src/store/sessions/postgres/cluster/followers.ts'

describe('the followers of an instance', () => {
  const told: [number, string][] = []
  const toldOwner: [string, string][] = []
  const followers = new Followers(
    (instance, runId) => told.push([instance, runId]),
    (kind, runId) => toldOwner.push([kind, runId]),
  )
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    followers.clear()
    told.length = 0
    toldOwner.length = 0
    vi.useRealTimers()
  })

  test('are told once when they begin, and after each commit of their runs', () => {
    followers.add(2, ['r', 's'])
    followers.add(3, ['r'])
    followers.add(2, ['r', 's'])
    expect(told.splice(0)).toEqual([
      [2, 'r'],
      [2, 's'],
      [3, 'r'],
    ])
    for (const runId of ['r', 's', 'other']) followers.recorded(runId)
    expect(told).toEqual([
      [2, 'r'],
      [3, 'r'],
      [2, 's'],
    ])
  })

  test('are forgotten when they are silent for long, each by itself', () => {
    followers.add(2, ['r'])
    followers.add(3, ['r'])
    for (let second = 0; second < 10; second++) {
      vi.advanceTimersByTime(1000)
      followers.add(3, ['r'])
    }
    told.length = 0
    followers.recorded('r')
    expect(told).toEqual([[3, 'r']])
    vi.advanceTimersByTime(7000)
    expect(followers.size).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('are known to the owner of the run, until the last one is gone', () => {
    followers.add(2, ['r'])
    followers.add(3, ['r', 's'])
    // Also what began to be followed before it was live.
    followers.add(2, ['r'])
    expect(toldOwner.splice(0)).toEqual(['r', 'r', 's', 'r'].map((runId) => ['followed', runId]))
    vi.advanceTimersByTime(2000)
    followers.add(3, ['r'])
    toldOwner.length = 0
    vi.advanceTimersByTime(2000)
    expect(toldOwner.splice(0)).toEqual([['unfollowed', 's']])
    followers.clear()
    expect(toldOwner).toEqual([['unfollowed', 'r']])
  })
})
