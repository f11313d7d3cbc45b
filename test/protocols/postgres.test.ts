import { afterAll, beforeAll, expect, it } from 'vitest'
import type { SessionStore } from '../../src/core/store.ts'
import { postgresStore } from '../../src/store/sessions/postgres/store.ts'
import { describePostgres } from '../support/postgres/describe-postgres.ts'
import { emptiedSchema } from '../support/postgres/emptied-schema.ts'
import { type ServingInstance, serve } from '../support/postgres/serve.ts'
import { recordedRuns } from '../support/protocols/recorded-runs.ts'
import {
  begunStretches,
  cuts,
  expectRecorded,
  follow,
  hasAsked,
  isStopped,
  recorded,
  startRecorded,
  wholeAt,
} from './recorded-streams.ts'

describePostgres('a run of each end on Postgres, in the stream of each protocol', () => {
  const schema = emptiedSchema()
  const stores: SessionStore[] = []
  let place: ReturnType<typeof schema.empty>
  let [a, b] = [] as unknown as [ServingInstance, ServingInstance]

  async function add(owner: string): Promise<ServingInstance> {
    const { url, name } = await place
    const store = postgresStore({ url, schema: name })
    await store.open()
    stores.push(store)
    return serve(store, owner, { recorded })
  }

  beforeAll(async () => {
    place = schema.empty()
    a = await add('own_a')
    b = await add('own_b')
  })
  afterAll(async () => {
    await Promise.all([a?.close(), b?.close()])
    for (const store of stores) await store.close()
    await schema.drop()
  })

  it.each(recordedRuns)('has the same bytes at both, live and later, and after a cut: $name', async (given) => {
    const { run } = given
    const isLost = run.status === 'interrupted'
    const home = isLost ? await add('own_lost') : a
    const runId = await startRecorded(home, given)
    for await (const stretch of begunStretches(given, runId, () => b)) {
      const finish = async () => {
        if (isLost) {
          await home.leave()
          await expect.poll(async () => (await b.runs.head(runId)).status, { timeout: 20_000 }).toBe('interrupted')
          await home.close()
        } else if (isStopped(run.status, stretch)) await b.runs.cancel(runId, 'requested')
      }
      // Later frames of one that is lost would be those of its failure.
      await follow({ home, all: [a, b] }, runId, finish, isLost ? cuts.slice(0, 2) : cuts)
    }
    // It waits until it is cancelled: another end than the one that was streamed.
    if (run.status === 'cancelled' && hasAsked(given.events))
      await b.runs.cancel(runId, run.cancellation_reason ?? undefined)
    expect(await wholeAt(b, runId)).toEqual(await wholeAt(a, runId))

    await expectRecorded(b, runId, given)
  })
})
