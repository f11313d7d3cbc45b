import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { outcomeOf } from '../../bench/cluster/balanced.ts'
import { verifyEffects } from '../../bench/cluster/effects.ts'
import { Logs } from '../../bench/cluster/logs.ts'
import { faultKinds, planFaults } from '../../bench/cluster/plan.ts'
import { Told } from '../../bench/cluster/told.ts'
import { Troubles } from '../../bench/cluster/troubles.ts'
import { verifyFrames } from '../../bench/cluster/verify.ts'
import { type ClusterSoak, describeSoak } from '../../bench/cluster-soak.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('a plan of faults', () => {
  const plan = (seed: number) => planFaults({ seed, forMs: 15 * 60_000, instances: 3 })

  test('is the same for the same seed, and has every kind several times', () => {
    expect(plan(7)).toEqual(plan(7))
    expect(plan(7)).not.toEqual(plan(8))
    for (const kind of faultKinds)
      expect(plan(7).filter((fault) => fault.kind === kind).length, kind).toBeGreaterThan(4)
  })

  test('leaves one instance alone at each moment, and ends in time', () => {
    const faults = plan(3)
    for (const { atMs, ms } of faults) expect(atMs + ms).toBeLessThanOrEqual(15 * 60_000)
    const ofInstances = faults.filter(({ instance }) => instance !== undefined)
    for (const { atMs } of ofInstances) {
      const under = ofInstances.filter((other) => other.atMs <= atMs && atMs < other.atMs + Math.max(1, other.ms))
      expect(new Set(under.map(({ instance }) => instance)).size).toBe(under.length)
      expect(under.length).toBeLessThan(3)
    }
  })
})

describe('what the soak calls a violation', () => {
  const frame = (seq: number, type = 'text_delta', text = '') => `id: ${seq}\nevent: ${type}\ndata: {"text":"${text}"}`
  const whole = [frame(1, 'run_start'), frame(2), frame(3), frame(4), frame(5, 'run_end')]
  const interrupted = [...whole.slice(0, 3), frame(1001, 'run_end')]
  const sent = (...frames: string[]) => ({
    frames: new Map(frames.map((one) => [Number(/\d+/.exec(one)?.[0]), one] as const)),
  })
  const wrong = (seen: ReturnType<typeof sent>, recorded: string[], truncated = false) => {
    const said: string[] = []
    verifyFrames(seen, recorded, truncated, (what) => said.push(what))
    return said
  }

  test('is an event that is missing, double, other than it was sent, or lost in silence', () => {
    expect(wrong(sent(...whole.slice(0, 3)), whole)).toEqual([])
    expect(wrong(sent(...whole.slice(0, 4)), interrupted, true)).toEqual([])
    expect(wrong(sent(), interrupted, true)).toEqual([])
    expect(wrong(sent(), whole.toSpliced(2, 1))).toEqual(['the record has event 4 after 2'])
    expect(wrong(sent(), [...whole, frame(3)])).toContain('the record has a number twice')
    expect(wrong(sent(frame(2, 'text_delta', 'other')), whole)).toHaveLength(1)
    expect(wrong(sent(...whole.slice(0, 4)), interrupted, false)).toHaveLength(1)
    expect(wrong(sent(frame(2)), [frame(1, 'run_start'), frame(3), frame(1001, 'run_end')], true)).toContain(
      'event 2 is missing in the middle of the record',
    )
  })

  test('is a run that is executed twice, or beside another of its session', async () => {
    await using folder = await temporaryFolder()
    const effects = async (...lines: string[]) => {
      const file = join(folder.path, 'effects')
      await writeFile(file, `${lines.join('\n')}\n`)
      const told = new Told()
      for (const name of ['x', 'y']) told.ended(told.run(name, 'ticking', 's'), 'completed')
      await verifyEffects(told, file)
      return told.violations
    }
    const [beginX, endX] = ['1 begin rx s "x"', '5 end rx s "x"']
    expect(await effects(beginX, endX, '6 begin ry s "y"', '7 end ry s "y"')).toEqual([])
    expect(await effects(beginX, '3 begin ry s "y"', endX, '7 end ry s "y"')).toEqual([
      'x and y were executed at the same time',
    ])
    expect(await effects(beginX, '3 begin rx s "x"', endX)).toEqual(['x (rx) was executed twice'])
    expect(await effects(beginX, endX, '6 begin rz s "x"', '7 end rz s "x"')).toEqual([
      'x was executed as rx and as rz',
    ])
  })

  test('is a run that changes its id or its end', () => {
    const told = new Told()
    const run = told.run('x', 'echo')
    told.named(run, 'r1')
    told.named(run, undefined)
    told.ended(run, 'completed', 'text')
    expect(told.violations).toEqual([])
    told.named(run, 'r2')
    told.ended(run, 'interrupted')
    expect(told.violations).toEqual(['x is two runs: r1 and r2', 'x (r1) was completed, and then interrupted'])
  })

  test('is an instance that is taken for dead without having been silent for so long', () => {
    const logs = new Logs()
    logs.know('http://127.0.0.1:20001', 'a')
    logs.add('{"level":40,"msg":"an instance has been silent for too long","address":"vm:20001"}\nno line of the log')
    const fault = (kind: 'kill' | 'short stop') => ({ kind, instance: 'a', fromMs: 0, toMs: 8_000 })
    expect(logs.falseDeaths([fault('kill')])).toEqual([])
    expect(logs.falseDeaths([fault('short stop')])).toHaveLength(1)
  })
})

test('the first lines of each error of the logs are kept whole', () => {
  const logs = new Logs()
  const line = (msg: string, n: number) => JSON.stringify({ level: 50, msg, n })
  logs.add([1, 2, 3, 4].map((n) => line('x', n)).join('\n'))
  logs.add(line('y', 1))
  expect(logs.errors).toEqual(new Map(Object.entries({ x: 4, y: 1 })))
  expect(logs.errorLines).toEqual([line('x', 1), line('x', 2), line('x', 3), line('y', 1)])
})

describe('the report of a soak', () => {
  const soak = (violations: string[]): ClusterSoak => ({
    ...{ seed: 7, violations, ends: new Map(), answers: new Map(), deaths: new Map(), errors: new Map(), leftOut: [] },
    errorLines: ['{"level":50,"msg":"a request failed"}'],
    ...{ executed: 0, interrupted: 0, handedOn: 0, reconnections: 0, repeats: 0, slowestMs: 0, looks: 0, settledMs: 0 },
    loadPerCore: 12.34,
    faults: [{ kind: 'kill', instance: 'b', fromMs: 2_000, toMs: 4_500 }],
  })

  test('has each violation in words, with the faults and their times and the errors of the logs', () => {
    const told = new Told()
    told.wrong('x is lost')
    told.beganMs = performance.now() - 3_000
    told.wrong('y is lost')
    const [untimed = '', timed = ''] = told.violations
    expect([untimed, timed]).toEqual(['x is lost', expect.stringMatching(/^3\.\d s: y is lost$/)])
    const lines = describeSoak(soak([untimed, timed])).split('\n')
    expect(lines.slice(-5)).toEqual([
      '| violations | 2 |',
      'violation: x is lost',
      `violation: ${timed}`,
      '2.0 s to 4.5 s: kill, b',
      '{"level":50,"msg":"a request failed"}',
    ])
    expect(describeSoak(soak([]))).toMatch(/\| violations \| 0 \|$/)
    expect(describeSoak(soak([]))).toContain('the load was at most 12.3 per core')
  })
})

describe('what the soak puts down to a fault', () => {
  const none = { isDiskFull: false }
  const answer = (status: number, code?: string, headers = {}) => ({
    status,
    body: code === undefined ? {} : { error: { code } },
    headers: new Headers(headers),
  })

  test('is a full disk only while it was full, and a late request', () => {
    const full = answer(507, 'storage_full')
    expect(outcomeOf(full, none)).toBe('507 storage_full')
    expect(outcomeOf(full, { ...none, isDiskFull: true })).toBe('again')
    const late = answer(408)
    expect(outcomeOf(late, none)).toBe('again')
    expect(outcomeOf(answer(503, 'unavailable', { 'retry-after': '1' }), none)).toBe('again')
    expect(outcomeOf(answer(503, 'unavailable'), none)).toBe('503 unavailable')
    const rpc = (message: string) => ({ ...answer(200), body: { error: { code: -32603, message } } })
    expect(outcomeOf(rpc('the server cannot accept work now; retry later'), none)).toBe('again')
    expect(outcomeOf(rpc('internal error'), none)).toBe('200 -32603')
    expect(outcomeOf(undefined, none)).toBe('none')
  })

  test('is what the fault was on for, and a few seconds after', () => {
    const troubles = new Troubles()
    expect(troubles.isDiskFull(0, 1e9)).toBe(false)
    const freed = troubles.begin('disk full', undefined, 10_000)
    troubles.begin('long stop', 'a', 10_000)
    expect([troubles.isDiskFull(9_000, 9_999), troubles.isDiskFull(9_000, 10_000)]).toEqual([false, true])
    expect(troubles.isDiskFull(500_000, 500_001)).toBe(true)
    freed(20_000)
    expect([troubles.isDiskFull(25_000, 26_000), troubles.isDiskFull(25_001, 26_000)]).toEqual([true, false])
  })

  test('is the end of a team that was under way then, and of nothing else', () => {
    const told = new Told()
    told.troubles.begin('disk full', undefined, 10_000)(20_000)
    const run = { agentId: 'pair', fromMs: 9_000, toMs: 12_000 }
    expect(told.mayLackSpace(run)).toBe(true)
    expect(told.mayLackSpace({ ...run, agentId: 'ticking' })).toBe(false)
    expect(told.mayLackSpace({ ...run, toMs: 9_500 })).toBe(false)
    expect(told.mayLackSpace({ ...run, fromMs: 25_001, toMs: 30_000 })).toBe(false)
  })
})
