import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { validatedStore } from '../../../src/store/cached/validated-store.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { postgresStore } from '../../../src/store/sessions/postgres/store.ts'
import { at, endOf, messageOf, seedOf, startOf } from '../../contract/session-store/builders.ts'
import { testSessionStore } from '../../contract/session-store.ts'
import { begin, instanceOf, join, type Member, startBy } from '../../contract/store-cluster/members.ts'
import { look } from '../../contract/store-cluster/readers.ts'
import { testCluster, testClusterReaders } from '../../contract/store-cluster.ts'
import { memoryCluster } from '../../support/memory-cluster.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { emptiedSchema } from '../../support/postgres/emptied-schema.ts'

testSessionStore('memory, shared, and cached', () => validatedStore(memoryCluster().add().store))
testCluster('memory, cached', async (count) => {
  const { add } = memoryCluster()
  return Array.from({ length: count }, () => validatedStore(add().store))
})

const schema = emptiedSchema()
afterAll(() => schema.drop())

async function onPostgres(count: number, wrap: (store: SessionStore) => SessionStore): Promise<SessionStore[]> {
  const { url, name } = await schema.empty()
  return Array.from({ length: count }, () => wrap(postgresStore({ url, schema: name })))
}

/** Notes the reads of what is cached. */
function noting(inner: SessionStore, reads: string[]): SessionStore {
  const note = <T>(name: string, read: Promise<T>) => {
    reads.push(name)
    return read
  }
  const basisOf = (id: string) => inner.readBasis?.(id) ?? inner.findSession(id).then((found) => found?.session)
  return {
    ...inner,
    readHistory: (...given) => note('readHistory', inner.readHistory(...given)),
    readBasis: (id) => note('readBasis', basisOf(id)),
    findSummary: (id) => note('findSummary', inner.findSummary(id)),
  }
}

const all = ['readHistory', 'readBasis', 'findSummary']
const sessionId = 's'

/** A turn that reads what it is told. */
async function say(member: Member, text: string): Promise<void> {
  const { runId } = await begin(member, { run: { session_id: sessionId }, text })
  await read(member, runId)
  await member.store.finishRun(endOf(runId, { messages: [messageOf(runId, 'assistant', `re ${text}`)] }))
}

async function read({ store }: Member, runId: string): Promise<void> {
  await store.readHistory(sessionId, 21, undefined, runId)
  await store.readBasis?.(sessionId, runId)
  await store.findSummary(sessionId, runId)
}

function testReads(create: (count: number, wrap: (store: SessionStore) => SessionStore) => Promise<SessionStore[]>) {
  const reads: string[] = []
  let open: SessionStore[] = []
  afterEach(async () => {
    for (const store of open.splice(0)) await store.close()
    reads.length = 0
  })
  async function members(): Promise<[Member, Member]> {
    open = await create(2, (store) => validatedStore(noting(store, reads)))
    for (const store of open) await store.open()
    const [a, b] = open as [SessionStore, SessionStore]
    return [await join(a, 'a'), await join(b, 'b')]
  }

  it('are none while no other process changes the session', async () => {
    const [a] = await members()
    for (let turn = 0; turn < 10; turn++) await say(a, `turn ${turn}`)
    expect(reads).toEqual([])
  })

  it('are one each after another process has changed it', async () => {
    const [a, b] = await members()
    await say(a, 'one')
    await b.store.updateSession(sessionId, { name: 'other' }, at(5))
    for (let turn = 0; turn < 3; turn++) await say(a, `turn ${turn}`)
    expect(reads).toEqual(all)
    await say(b, 'other')
    for (let turn = 0; turn < 3; turn++) await say(a, `turn ${turn}`)
    expect(reads).toEqual([...all, ...all, ...all])
  })

  it('are none after a run whose end came with its start', async () => {
    const [a] = await members()
    const start = startBy(a, { run: { session_id: sessionId } })
    const { run_id: runId } = start.run
    const messages = [messageOf(runId, 'assistant', 'at once')]
    await Promise.all([a.store.startRun(start), a.store.finishRun(endOf(runId, { messages }))])
    await say(a, 'next')
    expect(reads).toEqual([])
  })

  it('are one each after runs that were written at the same time', async () => {
    const [a] = await members()
    await say(a, 'one')
    const { runId } = await begin(a, { run: { session_id: sessionId } })
    const child = { run: { session_id: sessionId, parent_run_id: runId }, session: null }
    const children = await Promise.all([begin(a, child), begin(a, child)])
    await Promise.all(children.map((one) => a.store.finishRun(endOf(one.runId))))
    await a.store.finishRun(endOf(runId))
    expect(reads).toEqual([])
    for (let turn = 0; turn < 3; turn++) await say(a, `turn ${turn}`)
    expect(reads).toEqual(all)
  })

  it('are those of the store for everybody but a run that was started here', async () => {
    const [a, b] = await members()
    await say(a, 'one')
    const { runId } = await begin(b, { run: { session_id: sessionId } })
    reads.length = 0
    await look(a.store)
    await look(a.store, sessionId, runId)
    expect(reads).toHaveLength(6)
  })

  it('are those of the store for a run that has ended here or was taken over', async () => {
    const [a, b] = await members()
    const { runId } = await begin(a, { run: { session_id: sessionId } })
    await a.cluster.join(instanceOf('a again'))
    await read(a, runId)
    expect(reads).toEqual(all)
    await a.store.finishRun(endOf(runId))
    const other = await begin(a, { run: { session_id: sessionId } })
    await b.store.finishRun(endOf(other.runId))
    await read(a, other.runId)
    reads.length = 0
    const batch = { run_id: other.runId, fence: 1, events: [], reserve_until: 2000 }
    expect(await a.store.appendEvents(batch)).toBe('gone')
    await read(a, other.runId)
    expect(reads).toEqual(all)
  })
}

describe('reads of runs from a shared memory', () => {
  testReads(async (count, wrap) => {
    const { add } = memoryCluster()
    return Array.from({ length: count }, () => wrap(add().store))
  })

  it('are always there when starts bring no revision', async () => {
    const reads: string[] = []
    const store = validatedStore(noting(memoryStore(), reads))
    await store.open()
    await store.createSession(seedOf({ session_id: sessionId }))
    for (let turn = 0; turn < 2; turn++) {
      const { run } = startOf({ run: { session_id: sessionId } })
      await store.startRun(startOf({ run }))
      await read({ store } as Member, run.run_id)
      await store.finishRun(endOf(run.run_id))
    }
    expect(reads).toEqual([...all, ...all])
  })
})

describePostgres('reads of runs from Postgres', () => {
  testReads(onPostgres)
  testClusterReaders('postgres, cached', (count) => onPostgres(count, validatedStore))
})
