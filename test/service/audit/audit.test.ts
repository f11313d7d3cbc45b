import { describe, expect, test } from 'vitest'
import { tokenCaller } from '../../../src/core/access/token-caller.ts'
import { AppError } from '../../../src/core/error.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { Audit } from '../../../src/service/audit/audit.ts'
import { AuditedServices } from '../../../src/service/audit/audited-services.ts'
import type { Services } from '../../../src/service/services.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'

const actor = { caller: 'desk', userId: undefined, requestId: 'req_1' }

/** `failing`: what the log answers to writes, by the name of the method. */
async function opened(
  failing: Partial<Record<'addAuditEntry' | 'settleAuditEntry', AppError>> = {},
  more: Partial<Services> = {},
) {
  const memory = memoryStore()
  await memory.open()
  const store = { ...memory } as SessionStore
  for (const [name, error] of Object.entries(failing)) Object.assign(store, { [name]: () => Promise.reject(error) })
  const logged: string[] = []
  const done: string[] = []
  const logger = { ...silentLogger, error: (_about: object, message: string) => void logged.push(message) }
  const audit = new Audit({ store, clock: () => 1_000_000, logger: logger as never, serverId: 'srv_1', keepMs: 1000 })
  const does = (what: string) => async (id: string) => {
    done.push(`${what} ${id}`)
    return {}
  }
  const own = {
    sessions: { delete: does('delete') },
    runs: { resume: does('resume') },
    users: {
      erase: does('erase'),
      async *export() {
        yield 1
        yield 2
        throw new AppError('internal', 'no more')
      },
    },
    ...more,
  } as unknown as Services
  const services = new AuditedServices(own, audit, actor)
  const outcomes = async () => (await memory.listAuditEntries({}, { limit: 9 })).items.map(({ outcome }) => outcome)
  return { memory, services, audit, logged, done, outcomes }
}

describe('an act', () => {
  test('is in the log before it is done', async () => {
    const { audit, outcomes } = await opened()
    const seen: (string | null)[][] = []
    await audit.act(actor, { action: 'backup' }, async () => void seen.push(await outcomes()))
    expect([seen, await outcomes()]).toEqual([[[null]], ['ok']])
  })

  test('is not done when it can not be written', async () => {
    const { services, done } = await opened({ addAuditEntry: new AppError('unavailable', 'away') })
    await expect(services.sessions.delete('a')).rejects.toMatchObject({ code: 'unavailable' })
    await expect(services.users.export('ann')[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(done).toEqual([])
  })

  test('that makes room is done on a full disk, and no other', async () => {
    const { services, done, logged } = await opened({ addAuditEntry: new AppError('storage_full', 'full') })
    await expect(services.runs.resume('a', { mode: 'plain' })).rejects.toMatchObject({ code: 'storage_full' })
    await services.sessions.delete('a')
    await services.users.erase('ann')
    expect(done).toEqual(['delete a', 'erase ann'])
    expect(logged).toEqual(Array(2).fill('the audit log could not be written'))
  })

  test('is answered when only its outcome could not be written, which stays unknown', async () => {
    const { services, outcomes, logged } = await opened({ settleAuditEntry: new AppError('unavailable', 'away') })
    await services.sessions.delete('a')
    expect([await outcomes(), logged.length]).toEqual([[null], 1])
  })

  test('of many pieces has the outcome of the last, or none of its own when the reader leaves', async () => {
    const { services, outcomes } = await opened()
    const pieces: unknown[] = []
    const read = async () => {
      for await (const piece of services.users.export('ann')) pieces.push(piece)
    }
    await expect(read()).rejects.toMatchObject({ code: 'internal' })
    expect([pieces, await outcomes()]).toEqual([[1, 2], ['internal']])
    for await (const _piece of services.users.export('ann')) break
    expect((await outcomes()).toSorted()).toEqual(['cut', 'internal'])
  })

  test('with names that no database can hold is written as far as they can be', async () => {
    const { audit, memory } = await opened()
    const detail = { fact_id: '\0', names: ['\ud800', 'b'] }
    await audit.told({ ...actor, userId: `a\0b\ud800${'x'.repeat(300)}` }, { action: 'backup', detail })
    const [entry] = (await memory.listAuditEntries({}, { limit: 1 })).items
    expect(entry?.detail).toEqual({ fact_id: '\ufffd', names: ['\ufffd', 'b'] })
    expect([entry?.user_id?.slice(0, 5), entry?.user_id?.length]).toEqual(['a\ufffdb\ufffdx', 256])
  })

  test('of an erased user is under a pseudonym, also when the name was too long to be written whole', async () => {
    const { audit, memory } = await opened()
    const [whole, long] = ['ann b', `ann b${'x'.repeat(251)}`]
    for (const name of [whole, long]) {
      await audit.told({ ...actor, caller: tokenCaller(name) }, { action: 'backup' })
      await audit.hide(name)
    }
    const { items } = await memory.listAuditEntries({}, { limit: 9 })
    const pseudonym = expect.stringMatching(/^erased_/)
    expect(items.map(({ caller }) => caller)).toEqual([pseudonym, pseudonym])
  })

  test('that is told once in a time is told by the first server only, and again when the time is over', async () => {
    const memory = memoryStore()
    await memory.open()
    let now = 1_000_000
    const serverOf = (serverId: string) =>
      new Audit({ store: memory, clock: () => now, logger: silentLogger, serverId, keepMs: 1e9 })
    const [a, b] = [serverOf('srv_a'), serverOf('srv_b')]
    const seen: number[] = []
    const use = async (audit: Audit) => {
      audit.tellOnceIn(1_000, actor, { action: 'key.use' }, (atMs) => seen.push(atMs))
      await audit.close()
    }
    await use(a)
    now += 600
    await use(b)
    now += 600
    await use(b)
    const { items } = await memory.listAuditEntries({ action: 'key.use' }, { limit: 9 })
    expect([items.map(({ server_id }) => server_id), seen]).toEqual([['srv_b', 'srv_a'], [1_000_000]])
  })

  test('is found by names of any length', async () => {
    const { audit } = await opened()
    const long = 'x'.repeat(400)
    await audit.told(
      { ...actor, caller: tokenCaller(long), userId: long },
      { action: 'session.delete', object: { kind: 'session', id: long } },
    )
    for (const filter of [{ caller: tokenCaller(long) }, { user_id: long }, { object_id: long }])
      expect((await audit.list(filter, { limit: 9 })).items).toHaveLength(1)
    expect((await audit.list({ caller: 'x'.repeat(255) }, { limit: 9 })).items).toEqual([])
  })

  test('is forgotten after its time', async () => {
    const { audit, memory } = await opened()
    await audit.told(actor, { action: 'backup' })
    const [entry] = (await memory.listAuditEntries({}, { limit: 1 })).items
    await memory.addAuditEntry({
      ...(entry as NonNullable<typeof entry>),
      entry_id: 'old',
      at: new Date(998_999).toISOString(),
    })
    expect([await audit.expire(), await audit.expire()]).toEqual([1, 0])
    expect((await memory.listAuditEntries({}, { limit: 9 })).items).toEqual([entry])
  })
})

test('of runs all else passes through as it is', async () => {
  const given: unknown[] = []
  const all = ['start', 'get', 'head', 'list', 'cancel', 'restore', 'resume', 'events', 'withPrompts', 'trace'] as const
  const own = Object.fromEntries(all.map((name) => [name, (...args: unknown[]) => given.push([name, ...args])]))
  const { services, memory } = await opened({}, { runs: own as never })
  const told = async () => (await memory.listAuditEntries({}, { limit: 9 })).items
  const { runs } = services
  const page = { limit: 1 }
  runs.start({ entityId: 'echo' } as never)
  runs.get('a')
  runs.head('a')
  runs.list({}, page)
  runs.events('a', 3)
  runs.withPrompts('a', 'events' as never)
  runs.trace('a', page)
  const passed = [
    ['start', { entityId: 'echo' }],
    ['get', 'a'],
    ['head', 'a'],
    ['list', {}, page],
    ['events', 'a', 3],
    ['withPrompts', 'a', 'events'],
    ['trace', 'a', page],
  ]
  expect([given, await told()]).toEqual([passed, []])
  given.length = 0
  await runs.start({ entityId: 'echo', replaces: 'a' } as never)
  await runs.cancel('a', 'client_disconnected')
  await runs.cancel('a', 'words of mine')
  await runs.restore('a')
  await runs.resume('a', { mode: 'plain', approved: true })
  expect(given.map((one) => (one as string[])[0])).toEqual(['start', 'cancel', 'cancel', 'restore', 'resume'])
  const entries = (await told()).map(({ action, object_id, detail }) => [action, object_id, detail])
  expect(entries).toEqual(
    expect.arrayContaining([
      ['run.replace', 'a', {}],
      ['run.cancel', 'a', { reason: 'client_disconnected' }],
      ['run.cancel', 'a', null],
      ['run.restore', 'a', null],
      ['run.resume', 'a', { approved: 1, denied: 0 }],
    ]),
  )
})
