import { expect, it } from 'vitest'
import { postgresStore } from '../../../src/store/sessions/postgres/store.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { testPostgres } from '../../support/postgres/test-postgres.ts'
import { firedOf, scheduleOf, startProcess } from '../../support/schedules.ts'
import { echo } from '../../support/services.ts'

describePostgres('schedules of three instances on Postgres', () => {
  it('start one run for each due time, though clocks differ and one instance comes late', async () => {
    const { url, newSchema } = await testPostgres()
    await using schema = newSchema()
    const schedules = [
      scheduleOf({ cron: '* * * * *', overlap: 'allow' }),
      scheduleOf({ name: 'other', cron: '*/2 * * * *' }),
    ]
    const clocks = ['2027-01-10T00:00:00.000Z', '2027-01-10T00:00:00.400Z', '2027-01-09T23:58:30.000Z']
    const stores = clocks.map(() => postgresStore({ url, schema: schema.name }))
    for (const store of stores) await store.open()
    const processes = await Promise.all(
      stores.map((store, place) => startProcess(store, schedules, { echo }, clocks[place] ?? '')),
    )
    for (let round = 0; round < 30; round++) await Promise.all(processes.map((process) => process.pass(10_000)))
    for (const process of processes) await process.runs.idle()
    const [store] = stores
    const fired = store === undefined ? [] : await firedOf(store)
    const minutes = Array.from({ length: 7 }, (_, place) =>
      new Date(Date.UTC(2027, 0, 9, 23, 59 + place)).toISOString(),
    )
    const even = minutes.filter((time) => new Date(time).getUTCMinutes() % 2 === 0)
    expect(fired.sort()).toEqual([...minutes, ...even].sort())
    for (const process of processes) await process.service.close()
    await Promise.all(stores.map((one) => one.close()))
  })
})
