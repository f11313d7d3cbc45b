import { expect, onTestFinished, test } from 'vitest'
import type { SessionStore } from '../../../../src/core/store.ts'
import { steps } from '../../../../src/store/sessions/postgres/schema/steps.ts'
import { postgresStore } from '../../../../src/store/sessions/postgres/store.ts'
import {
  preparationScript,
  prepareDatabase,
  upgradeDatabase,
} from '../../../../src/store/sessions/postgres/upkeep/prepare.ts'
import { readStatus } from '../../../../src/store/sessions/postgres/upkeep/status.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { contract, expand, newest, newestStep, newPlace } from '../../../support/postgres/newer-steps.ts'
import { execute } from '../../../support/postgres/places.ts'
import type { Place } from '../../../support/postgres/test-postgres.ts'

describePostgres('the commands for the tables', () => {
  async function opened({ url, name }: Pick<Place, 'url' | 'name'>): Promise<SessionStore> {
    const store = postgresStore({ url, schema: name, steps })
    await store.open()
    onTestFinished(() => store.close())
    return store
  }
  const join = (store: SessionStore) =>
    store.cluster?.join({
      ...{ owner: 'older', address: 'here:1', version: '1', entities: [], role: 'server', deadAfterMs: 1_000 },
    })
  const stepsOf = ({ url, name }: Pick<Place, 'url' | 'name'>) =>
    execute(url, `SELECT step || ' ' || kind FROM ${name}.schema_version ORDER BY step`)
  const options = ({ url, name }: Pick<Place, 'url' | 'name'>) =>
    ({ url, schema: name, connections: 'direct' }) as const
  const never = new AbortController().signal

  test('prepare the tables for all servers, and upgrade them once no older one lives', async () => {
    const place = await newPlace()
    expect(await prepareDatabase(options(place), steps)).toEqual({
      ...{ step: newestStep, applied: steps.length, waiting: [], older: [] },
    })
    const old = await opened(place)
    await join(old)
    const stopBeats = keepBeating(old)
    const prepared = { step: expand.step, applied: 1, waiting: [contract.step], older: [] }
    expect(await prepareDatabase(options(place), newest)).toEqual(prepared)
    expect(await upgradeDatabase(options(place), never, newest)).toEqual({
      ...{ step: expand.step, applied: 0, waiting: [contract.step] },
      older: [{ owner: expect.any(String), version: '1', address: 'here:1', knows: newestStep }],
    })
    const { schema, instances } = await readStatus(options(place), newest)
    expect(schema).toMatchObject({ applied: expand.step, missing: 0, waiting: [contract.step], strange: null })
    expect(instances).toMatchObject([{ state: 'alive', schema_known: newestStep }])
    await stopBeats()
    // It is silent from now on, and counts as dead after a second.
    expect(await upgradeDatabase(options(place), never, newest)).toEqual({
      ...{ step: contract.step, applied: 1, waiting: [], older: [] },
    })
    expect(await old.cluster?.beat()).toMatchObject({ lost: true })
    expect((await readStatus(options(place), steps)).schema).toMatchObject({ strange: contract.step, missing: 0 })
    await expect(prepareDatabase(options(place), steps)).rejects.toMatchObject({ code: 'unavailable' })
  }, 30_000)

  test('stop waiting for a silent server when they are stopped', async () => {
    const place = await newPlace()
    await join(await opened(place))
    const stopped = upgradeDatabase(options(place), AbortSignal.timeout(100), newest)
    await expect(stopped).rejects.toThrow(/timeout/i)
  })

  test('print the steps that are missing, which can be executed', async () => {
    const place = await newPlace()
    await opened(place)
    const { text, steps: missing } = await preparationScript(options(place), 'agents', false, newest)
    expect(missing).toEqual([expand.step])
    expect(text).not.toContain('CREATE TABLE session')
    expect(text).not.toContain('RENAME')
    await execute(place.url, text.replace(/^GRANT.*$/gm, ''))
    const upgrade = await preparationScript(options(place), undefined, true, newest)
    expect(upgrade).toMatchObject({ steps: [contract.step], text: expect.stringContaining('no older server') })
    await execute(place.url, upgrade.text)
    expect(await stepsOf(place)).toEqual(newest.map(({ step, kind }) => `${step} ${kind}`))
    const nothing = await preparationScript(options(place), 'agents', true, newest)
    expect(nothing).toMatchObject({
      steps: [],
      text: expect.stringMatching(/No step is missing[^;]*\n\n--[^;]*\nGRANT/),
    })
    // Twice is an error, and changes nothing.
    await expect(execute(place.url, upgrade.text)).rejects.toThrow()
  })
})

/** As a server does, until it is called. */
function keepBeating(store: SessionStore): () => Promise<void> {
  let over = false
  const beating = (async () => {
    while (!over) await store.cluster?.beat()
  })()
  return () => {
    over = true
    return beating
  }
}
