import { expect, onTestFinished, test } from 'vitest'
import type { Logger } from '../../../../src/core/logger.ts'
import { silentLogger } from '../../../../src/core/logger.ts'
import type { SessionStore } from '../../../../src/core/store.ts'
import { Pools } from '../../../../src/store/postgres/pools.ts'
import { lockKeyOf } from '../../../../src/store/sessions/postgres/schema/lock.ts'
import { schemaScript } from '../../../../src/store/sessions/postgres/schema/script.ts'
import { type Step, steps } from '../../../../src/store/sessions/postgres/schema/steps.ts'
import { type PostgresStoreOptions, postgresStore } from '../../../../src/store/sessions/postgres/store.ts'
import { upgradeDatabase } from '../../../../src/store/sessions/postgres/upkeep/prepare.ts'
import { owned } from '../../../support/owned.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { contract, expand, newer, newest, newestStep, newPlace } from '../../../support/postgres/newer-steps.ts'
import { execute } from '../../../support/postgres/places.ts'
import { serve } from '../../../support/postgres/serve.ts'
import { echo, request } from '../../../support/services.ts'

interface Said {
  level: string
  text: string
  fields: object
}

function listening(said: Said[]): Logger {
  const at = (level: string) => (fields: object, text: string) => void said.push({ level, text, fields })
  return { ...silentLogger, info: at('info'), warn: at('warn'), error: at('error') } as Logger
}

describePostgres('the steps of the tables', () => {
  type More = Partial<PostgresStoreOptions>
  const storeOf = ({ url, name }: { url: string; name: string }, known: readonly Step[], more: More = {}) =>
    postgresStore({ url, schema: name, steps: known, contracts: true, ...more })

  async function opened(place: { url: string; name: string }, known: readonly Step[], more: More = {}) {
    const store = storeOf(place, known, more)
    await store.open()
    onTestFinished(() => store.close())
    return store
  }
  let owners = 0
  const join = (store: SessionStore) => {
    const owner = `o${owners++}`
    const self = { owner, address: 'here:1', version: '1', entities: [], role: 'server' as const, deadAfterMs: 1_000 }
    return store.cluster?.join(self)
  }
  const stepsOf = ({ url, name }: { url: string; name: string }) =>
    execute(url, `SELECT step || ' ' || kind FROM ${name}.schema_version ORDER BY step`)
  const options = ({ url, name }: { url: string; name: string }) =>
    ({ url, schema: name, connections: 'direct' }) as const

  test('are applied once by five servers that start together, those of other schemas beside them', async () => {
    const place = await newPlace()
    await opened(place, steps)
    const other = await newPlace()
    await Promise.all([
      ...Array.from({ length: 5 }, () => opened(place, newest)),
      ...Array.from({ length: 5 }, () => opened(other, newest)),
    ])
    expect(await stepsOf(place)).toEqual(newest.map(({ step, kind }) => `${step} ${kind}`))
    expect(await stepsOf(other)).toEqual(await stepsOf(place))
  })

  test('that expand go in beside a server that does not know them, and both work', async () => {
    const place = await newPlace()
    const old = await serve(await opened(place, steps), 'old', { echo })
    const next = await serve(await opened(place, newer), 'next', { echo })
    onTestFinished(async () => {
      await Promise.all([old.close(), next.close()])
    })
    expect(await stepsOf(place)).toHaveLength(newer.length)
    for (const [one, other] of [
      [old, next],
      [next, old],
    ] as const) {
      const { runId, result } = await one.runs.start(request('echo', 'told'))
      await result()
      expect(await other.runs.get(runId)).toMatchObject({ status: 'completed' })
    }
    // Also one that starts later.
    await join(await opened(place, steps))
  })

  test('that contract wait for the last older server, which is named', async () => {
    const place = await newPlace()
    const old = await opened(place, steps)
    await join(old)
    const said: Said[] = []
    await join(await opened(place, newest, { logger: listening(said) }))
    expect((await stepsOf(place)).at(-1)).toBe(`${expand.step} expand`)
    expect(said.find(({ text }) => text.includes('wait until no older server'))?.fields).toMatchObject({
      steps: [contract.step],
      older: [{ address: 'here:1', version: '1' }],
    })
    await old.cluster?.leave()
    // A command leaves it to a server.
    await opened(place, newest, { contracts: false })
    expect((await stepsOf(place)).at(-1)).toBe(`${expand.step} expand`)
    await opened(place, newest)
    expect((await stepsOf(place)).at(-1)).toBe(`${contract.step} contract`)
  })

  test('of a newer version are of no concern, until one contracts', async () => {
    const place = await newPlace()
    const old = await opened(place, steps)
    await opened(place, newer)
    await opened(place, steps)
    await opened(place, newest)
    await expect(opened(place, steps)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`(step ${contract.step}) so that this one, which knows step ${newestStep}`),
    })
    // It had looked at the tables before they were changed.
    await expect(join(old)).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('newer') })
    expect(await execute(place.url, `SELECT left_at IS NOT NULL FROM ${place.name}.instance`)).toEqual([true])
  })

  test('that contract are seen by who joins meanwhile, or see it', async () => {
    const place = await newPlace()
    const olds = await Promise.all(Array.from({ length: 6 }, () => opened(place, steps)))
    await opened(place, newer)
    const [upgraded, ...joined] = await Promise.allSettled([
      upgradeDatabase(options(place), AbortSignal.timeout(60_000), newest),
      ...olds.map((old) => join(old)),
    ])
    if (upgraded?.status !== 'fulfilled') throw upgraded?.reason
    const alive = joined.filter(({ status }) => status === 'fulfilled').length
    // Those that joined first never beat, so they are declared dead in the end; until then nothing is changed below them.
    const dead = await execute(place.url, `SELECT 1 FROM ${place.name}.instance WHERE dead_at IS NOT NULL`)
    expect(dead).toHaveLength(alive)
    expect(await stepsOf(place)).toHaveLength(newest.length)
  })

  test('wait for locks briefly, and let others go on in between', async () => {
    const place = await newPlace()
    await opened(place, steps)
    const pools = new Pools({ ...options(place), logger: silentLogger })
    onTestFinished(() => pools.close())
    const holding = await pools.connect('test')
    await holding.begin()
    await holding.all('LOCK TABLE run IN ACCESS SHARE MODE')
    const expanding = owned(opened(place, newer))
    const waits = `SELECT count(*)::int FROM pg_locks WHERE NOT granted AND relation = '${place.name}.run'::regclass`
    await expect.poll(() => execute(place.url, waits)).toEqual([1])
    // It gives up its place in the queue, behind which others stood.
    await expect.poll(() => execute(place.url, waits)).toEqual([0])
    await holding.exec('COMMIT')
    await holding.close()
    await expanding
    expect(await stepsOf(place)).toHaveLength(newer.length)
  }, 30_000)

  test('with an index make it while others write, and again after it broke', async () => {
    const place = await newPlace()
    await opened(place, steps)
    const index: Step = {
      step: newestStep + 1,
      kind: 'expand',
      index: 'claim_by_hash',
      sql: 'CREATE UNIQUE INDEX CONCURRENTLY claim_by_hash ON {schema}.claim (hash)',
    }
    const claim = (key: string) =>
      `INSERT INTO ${place.name}.claim (claim_key, hash, expires_at, owner) VALUES ('${key}', 'same', '2999', 0)`
    await execute(place.url, claim('a'))
    await execute(place.url, claim('b'))
    await expect(opened(place, [...steps, index])).rejects.toThrow()
    const valid = `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = '${place.name}.claim_by_hash'::regclass`
    expect(await execute(place.url, valid)).toEqual([false])
    await execute(place.url, `DELETE FROM ${place.name}.claim WHERE claim_key = 'b'`)
    await Promise.all(Array.from({ length: 3 }, () => opened(place, [...steps, index])))
    expect(await execute(place.url, valid)).toEqual([true])
    expect(await stepsOf(place)).toHaveLength(steps.length + 1)
    const other = await newPlace()
    await opened(other, [...steps, index], { connections: 'pooled' })
    expect(await stepsOf(other)).toHaveLength(steps.length + 1)
    expect(schemaScript(place.name, [index])).toContain(`ON "${place.name}".claim (hash);\nBEGIN;`)
  }, 30_000)

  test('are waited for while another changes the tables, and no longer than a while', async () => {
    const place = await newPlace()
    await opened(place, steps)
    const pools = new Pools({ ...options(place), logger: silentLogger })
    onTestFinished(() => pools.close())
    const holding = await pools.connect('test')
    await holding.begin()
    await holding.exec('SET LOCAL idle_in_transaction_session_timeout = 0')
    await holding.all('SELECT pg_advisory_xact_lock(hashtext($1))', [lockKeyOf(place.name)])
    // Nothing is missing: it does not wait.
    await opened(place, steps)
    const later = owned(opened(place, newer))
    await opened(place, steps)
    await holding.exec('ROLLBACK')
    await holding.close()
    await later
    expect(await stepsOf(place)).toHaveLength(newer.length)
  })

  test('that a role may not apply are said, and those that contract are left', async () => {
    const place = await newPlace()
    await opened(place, newer)
    const said: Said[] = []
    const failing: Step = {
      step: contract.step,
      kind: 'contract',
      sql: 'ALTER TABLE pg_catalog.pg_class ADD COLUMN x int',
    }
    await opened(place, [...newer, failing], { logger: listening(said) })
    expect(said).toMatchObject([{ level: 'warn', text: expect.stringContaining('agentserve storage upgrade') }])
    expect(await stepsOf(place)).toHaveLength(newer.length)
  })
})
