import { describe, expect, it } from 'vitest'
import { cronProblem, dueTimes, isTimeZone } from '../../src/runtime/cron.ts'

const ms = (time: string) => Date.parse(time)
const shown = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString())

function allBetween(pattern: string, zone: string, from: string, to: string): string[] {
  const times = dueTimes(pattern, zone)
  const found: string[] = []
  for (let at = times.after(ms(from)); at !== undefined && at < ms(to); at = times.after(at))
    found.push(shown(at) ?? '')
  return found
}

describe('due times', () => {
  it('put a time that the clock skips at the end of the gap, once', () => {
    expect(allBetween('30 2 * * *', 'Europe/Berlin', '2027-03-27T12:00Z', '2027-03-30T00:00Z')).toEqual([
      '2027-03-28T01:00:00.000Z',
      '2027-03-29T00:30:00.000Z',
    ])
  })

  it('have a time that comes twice once, and those of every hour twice', () => {
    expect(allBetween('30 2 * * *', 'Europe/Berlin', '2027-10-30T12:00Z', '2027-11-01T12:00Z')).toEqual([
      '2027-10-31T00:30:00.000Z',
      '2027-11-01T01:30:00.000Z',
    ])
    expect(allBetween('30 * * * *', 'Europe/Berlin', '2027-10-30T23:00Z', '2027-10-31T03:00Z')).toEqual([
      '2027-10-30T23:30:00.000Z',
      '2027-10-31T00:30:00.000Z',
      '2027-10-31T01:30:00.000Z',
      '2027-10-31T02:30:00.000Z',
    ])
  })

  it('are the same forwards and backwards, also around changes of the clock', () => {
    for (const pattern of ['30 2 * * *', '*/20 1-3 * * *', '0 2,3 * * *']) {
      for (const zone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe']) {
        for (const day of ['2027-03-27', '2027-10-30', '2027-11-06', '2027-03-13', '2027-04-03', '2027-10-02']) {
          const from = ms(`${day}T00:00:00Z`)
          const times = dueTimes(pattern, zone)
          const all = allBetween(pattern, zone, shown(from - 1) ?? '', shown(from + 2 * 86_400_000) ?? '').map(ms)
          for (let at = all[0] ?? from; at < from + 2 * 86_400_000; at += 13 * 60_000) {
            const last = all.filter((due) => due <= at).at(-1)
            expect([pattern, zone, shown(at), shown(times.until(at))]).toEqual([pattern, zone, shown(at), shown(last)])
          }
        }
      }
    }
  })

  it('say what is wrong with a pattern', () => {
    for (const good of ['0 3 * * *', '*/5 * * * * *', '@daily', '0 9 * * MON-FRI', '0 0 L * *'])
      expect([good, cronProblem(good)]).toEqual([good, undefined])
    expect(cronProblem('61 * * * *')).toBe('Invalid value for minute: 61')
    expect(cronProblem('0 0 30 2 *')).toBe('never comes: there is no such date')
    expect(cronProblem('? * * * *')).toContain("has a '?'")
    for (const bad of ['', '* * * *', '@reboot', '0 0 * * * * 2030', 'x'.repeat(10_000)])
      expect(cronProblem(bad)).toBeTruthy()
    expect([isTimeZone('Europe/Berlin'), isTimeZone('UTC'), isTimeZone('Mars/Olympus')]).toEqual([true, true, false])
  })
})
