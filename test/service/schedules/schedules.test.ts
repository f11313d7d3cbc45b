import { expect, it } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import type { Schedule } from '../../../src/core/triggers/schedule.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { firedOf, type ScheduledProcess, scheduleOf, startProcess } from '../../support/schedules.ts'
import { echo, gate } from '../../support/services.ts'

const hour = 3_600_000
const day = 24 * hour

const storeAt = (clock: () => string): SessionStore => memoryStore({ clock: () => Date.parse(clock()) })

async function open(more: Partial<Schedule> = {}, start = '2027-01-10T00:00:00.000Z', entities = { echo }) {
  let process: ScheduledProcess | undefined
  const store = storeAt(() => process?.now() ?? start)
  process = await startProcess(store, [scheduleOf(more)], entities, start)
  const again = (at: string, next: Partial<Schedule> = more) =>
    startProcess(store, [scheduleOf(next)], entities, at).then((started) => {
      process = started
      return started
    })
  return { store, process, again }
}

it('starts a run at each due time, in a session of its own, with what fired it', async () => {
  const { store, process } = await open({ metadata: { team: 'ops' } })
  await process.pass(2 * day + 3 * hour, 60_000)
  expect(await firedOf(store)).toEqual([
    '2027-01-10T02:30:00.000Z',
    '2027-01-11T02:30:00.000Z',
    '2027-01-12T02:30:00.000Z',
  ])
  const { items } = await store.listRuns({}, { limit: 9 })
  expect(new Set(items.map(({ session_id }) => session_id)).size).toBe(3)
  const run = await store.findRun(items[0]?.run_id ?? '')
  expect(run).toMatchObject({
    background: true,
    metadata: { team: 'ops', schedule: { name: 'nightly', due_at: '2027-01-12T02:30:00.000Z' } },
  })
  expect(await process.service.list()).toMatchObject([
    { name: 'nightly', next_at: '2027-01-13T02:30:00.000Z', last_run: { run_id: run?.run_id }, paused: false },
  ])
})

it('puts all runs into a session that it names, as those of its user', async () => {
  const { store, process } = await open({ session: 'diary', user: 'ann', input: { topic: 'night' } })
  await process.pass(day + 3 * hour, 60_000)
  const found = await store.findSession('diary')
  expect(found?.session).toMatchObject({ user_id: 'ann', run_count: 2 })
})

it('makes up for what a restart has missed once, and not for what is too old', async () => {
  const { store, process, again } = await open()
  await process.pass(3 * hour)
  await process.service.close()
  const later = await again('2027-01-14T12:00:00.000Z')
  await later.service.close()
  const last = await again('2027-01-14T12:05:00.000Z')
  await last.pass(hour, 60_000)
  expect(await firedOf(store)).toEqual(['2027-01-10T02:30:00.000Z', '2027-01-14T02:30:00.000Z'])
  await last.service.close()
  const weekly = await again('2027-01-24T02:00:00.000Z')
  await weekly.service.close()
  expect(await firedOf(store)).toHaveLength(3)
  const never = await again('2027-01-30T12:00:00.000Z', { catchUpMs: 0 })
  await never.pass(hour, 60_000)
  expect(await firedOf(store)).toHaveLength(3)
})

it('loses nothing and doubles nothing when it is killed before or after the run has started', async () => {
  const { store, process, again } = await open()
  await process.service.close()
  // Killed before: the store refuses the start.
  const broken = { ...store, startRun: () => Promise.reject(new AppError('unavailable', 'killed')) }
  const first = await startProcess(broken, [scheduleOf()], { echo }, '2027-01-10T02:29:00.000Z')
  await first.pass(2 * 60_000)
  expect(await firedOf(store)).toEqual([])
  await first.service.close()
  // Killed after: the outcome is not recorded.
  const deaf = { ...store, settleSchedule: () => Promise.reject(new AppError('unavailable', 'killed')) }
  const second = await startProcess(deaf, [scheduleOf()], { echo }, '2027-01-10T02:32:00.000Z')
  expect(await firedOf(store)).toEqual(['2027-01-10T02:30:00.000Z'])
  await second.service.close()
  const third = await again('2027-01-10T02:40:00.000Z')
  await third.pass(hour, 60_000)
  expect(await firedOf(store)).toEqual(['2027-01-10T02:30:00.000Z'])
  expect((await third.service.list())[0]?.last_run?.run_id).toMatch(/^run_/)
})

it('tries again when the start fails, and gives up what is refused', async () => {
  const { store, process } = await open()
  await process.service.close()
  let failures = 3
  const flaky: SessionStore = {
    ...store,
    startRun: (start) =>
      failures-- > 0 ? Promise.reject(new AppError('storage_full', 'full')) : store.startRun(start),
  }
  const next = await startProcess(
    flaky,
    [scheduleOf(), scheduleOf({ name: 'gone', agent: 'none' })],
    { echo },
    process.now(),
  )
  await next.pass(4 * hour)
  expect(await firedOf(store)).toEqual(['2027-01-10T02:30:00.000Z'])
  expect(failures).toBe(-1)
})

it('starts each due time once though the clock is set back and forth', async () => {
  const { store, process } = await open({ cron: '0 * * * *' })
  await process.pass(hour + 60_000)
  process.setClock('2027-01-09T23:50:00.000Z')
  await process.pass(2 * hour + 20 * 60_000, 30_000)
  process.setClock('2027-01-20T05:30:00.000Z')
  await process.pass(60_000)
  process.setClock('2027-01-10T02:15:00.000Z')
  await process.pass(hour, 30_000)
  expect((await firedOf(store)).sort()).toEqual([
    '2027-01-10T00:00:00.000Z',
    '2027-01-10T01:00:00.000Z',
    '2027-01-10T02:00:00.000Z',
    '2027-01-10T03:00:00.000Z',
    '2027-01-20T05:00:00.000Z',
  ])
})

it('runs once at the end of a gap of daylight saving, and once where a time comes twice', async () => {
  const more = { timeZone: 'Europe/Berlin' }
  const spring = await open(more, '2027-03-27T12:00:00.000Z')
  await spring.process.pass(day, 60_000)
  expect(await firedOf(spring.store)).toEqual(['2027-03-28T01:00:00.000Z'])
  const autumn = await open(more, '2027-10-30T12:00:00.000Z')
  await autumn.process.pass(day, 60_000)
  expect(await firedOf(autumn.store)).toEqual(['2027-10-31T00:30:00.000Z'])
})

it('skips, allows or interrupts a run that is still under way', async () => {
  const outcomes: Record<string, unknown> = {}
  for (const overlap of ['skip', 'allow', 'interrupt'] as const) {
    const { runnable } = gate()
    const { store, process } = await open({ cron: '0 * * * *', overlap }, undefined, { echo: runnable })
    await process.pass(2 * hour + 60_000, 60_000)
    const { items } = await store.listRuns({}, { limit: 9 })
    const [info] = await process.service.list()
    outcomes[overlap] = { runs: items.length, reason: items.at(-1)?.cancellation_reason, skipped: info?.skipped_at }
    await process.service.close()
    await process.runs.shutdown(0)
  }
  expect(outcomes).toEqual({
    skip: { runs: 1, reason: null, skipped: '2027-01-10T02:00:00.000Z' },
    allow: { runs: 2, reason: null, skipped: null },
    interrupt: { runs: 2, reason: 'superseded', skipped: null },
  })
})

it('pauses on request, over a restart, and makes up for nothing', async () => {
  const { store, process, again } = await open()
  expect(await process.service.pause('nightly', true)).toMatchObject({ paused: true, next_at: null })
  await process.pass(day, 60_000)
  await process.service.close()
  const next = await again('2027-01-12T00:00:00.000Z')
  await next.pass(3 * hour, 60_000)
  expect(await firedOf(store)).toEqual([])
  await next.service.pause('nightly', false)
  await next.pass(hour, 60_000)
  expect(await firedOf(store)).toEqual([])
  await next.pass(day, 60_000)
  expect(await firedOf(store)).toEqual(['2027-01-13T02:30:00.000Z'])
})

it('runs one by hand, whatever else is under way', async () => {
  const { store, process } = await open({ enabled: false })
  const { runId } = await process.service.run('nightly')
  expect(await store.findRun(runId)).toMatchObject({ metadata: { schedule: { name: 'nightly', due_at: null } } })
  expect(await process.service.get('nightly')).toMatchObject({
    enabled: false,
    next_at: null,
    last_run: { run_id: runId },
  })
  await expect(process.service.run('nightli')).rejects.toMatchObject({
    code: 'schedule_not_found',
    message: "There is no schedule 'nightli'. Did you mean 'nightly'?",
  })
})

it('follows another config at once, and misses nothing of what stays', async () => {
  const { store, process } = await open()
  process.service.replace([scheduleOf({ input: 'other' }), scheduleOf({ name: 'hourly', cron: '0 * * * *' })])
  await process.pass(3 * hour, 60_000)
  expect(await firedOf(store)).toHaveLength(4)
  process.service.replace([scheduleOf({ name: 'hourly', cron: '0 * * * *', enabled: false })])
  await process.pass(day, 60_000)
  expect(await firedOf(store)).toHaveLength(4)
  process.service.replace([scheduleOf({ name: 'hourly', cron: '0 * * * *' })])
  await process.pass(hour, 60_000)
  expect(await firedOf(store)).toHaveLength(5)
})
