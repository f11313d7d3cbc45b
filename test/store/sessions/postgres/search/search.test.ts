import { afterEach, beforeEach, expect, it } from 'vitest'
import { silentLogger } from '../../../../../src/core/logger.ts'
import type { SessionStore } from '../../../../../src/core/store.ts'
import { searchWordsOf } from '../../../../../src/core/text/message-search.ts'
import type { Connection } from '../../../../../src/store/postgres/connection.ts'
import { Pools } from '../../../../../src/store/postgres/pools.ts'
import { inTransaction } from '../../../../../src/store/postgres/transaction.ts'
import { postgresStore } from '../../../../../src/store/sessions/postgres/store.ts'
import { forgetWords, renewWords } from '../../../../../src/store/sessions/postgres/writing/words.ts'
import { describePostgres } from '../../../../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../../../../support/postgres/test-postgres.ts'
import { seedRun } from './seeds.ts'

describePostgres('search in Postgres', () => {
  let schema: Place
  let stores: SessionStore[]
  let pools: Pools
  let sql: Connection
  let connections: Connection[]

  beforeEach(async () => {
    const { url, newSchema } = await testPostgres()
    schema = newSchema()
    stores = [postgresStore({ url, schema: schema.name }), postgresStore({ url, schema: schema.name })]
    for (const store of stores) await store.open()
    pools = new Pools({ url, schema: schema.name, connections: 'direct', logger: silentLogger })
    connections = []
    sql = await connect()
  })
  afterEach(async () => {
    for (const connection of connections) await connection.close()
    await pools.close()
    for (const store of stores) await store.close()
    await schema.drop()
  })

  async function connect(): Promise<Connection> {
    const connection = await pools.connect('test')
    connections.push(connection)
    return connection
  }

  async function found(query: string, store = stores[0]): Promise<string[]> {
    const page = await store?.searchMessages({ words: searchWordsOf(query) }, { limit: 100 })
    return (page?.items ?? []).map(({ session_id, role }) => `${session_id} ${role}`)
  }
  const words = async (number: number) =>
    (await sql.all<{ words: string }>('SELECT words::text FROM run_words WHERE run_number = $1', [number]))[0]?.words

  it('finds in each store what was written through the other, and takes words once', async () => {
    await seedRun(sql, { said: 'green tea', answer: 'from Japan' })
    expect(await found('green', stores[0])).toEqual(['s user'])
    await seedRun(sql, { session: 'two', said: 'green coffee' })
    expect(await found('green', stores[1])).toEqual(['two user', 's user'])
    const versions = () => sql.all('SELECT xmin::text, ctid::text FROM run_words ORDER BY run_number')
    const before = await versions()
    expect(before).toHaveLength(2)
    expect(await found('green', stores[0])).toEqual(['two user', 's user'])
    expect(await versions()).toEqual(before)
  })

  it('finds a run that was committed after one with a higher number, at once and later', async () => {
    const slow = await connect()
    await slow.begin()
    const low = await seedRun(slow, { session: 'low', said: 'word' })
    expect(await seedRun(sql, { session: 'high', said: 'word' })).toBeGreaterThan(low)
    expect(await found('word')).toEqual(['high user'])
    await makeOld()
    // The mark may be passed only when the transaction of the lower number has ended.
    expect(await found('word')).toEqual(['high user'])
    await slow.exec('COMMIT')
    expect(await found('word')).toEqual(['high user', 'low user'])
    // Any transaction in the server, also of another test, puts the mark off.
    for (let complete = 0; complete < low; ) {
      await makeOld()
      expect(await found('word')).toEqual(['high user', 'low user'])
      const [state] = await sql.all<{ complete_until: number }>('SELECT complete_until FROM search_state')
      complete = state?.complete_until ?? 0
    }
    await seedRun(sql, { session: 'next', said: 'word' })
    expect(await found('word')).toEqual(['next user', 'high user', 'low user'])
  })

  it('finds runs one after the other that were committed after those around them', async () => {
    const [one, two] = [await connect(), await connect()]
    await one.begin()
    await two.begin()
    await seedRun(sql, { session: 'first', said: 'word' })
    await seedRun(one, { session: 'one', said: 'word' })
    await seedRun(two, { session: 'two', said: 'word' })
    await seedRun(sql, { session: 'last', said: 'word' })
    for (const store of stores) expect(await found('word', store)).toEqual(['last user', 'first user'])
    await one.exec('COMMIT')
    for (const store of stores) expect(await found('word', store)).toEqual(['last user', 'one user', 'first user'])
    await two.exec('COMMIT')
    const all = ['last user', 'two user', 'one user', 'first user']
    for (const store of stores) expect(await found('word', store)).toEqual(all)
    await sql.run('DELETE FROM run WHERE run_number > 1')
    await seedRun(sql, { session: 'later', said: 'word' })
    expect(await found('word')).toEqual(['later user', 'first user'])
  })

  it('begins its marks anew in a server that counts transactions anew', async () => {
    await seedRun(sql, { said: 'word' })
    await found('word')
    await sql.run(`UPDATE search_state SET mark_xid = '9999999999'::xid8, mark_at = mark_at - interval '1 hour'`)
    await seedRun(sql, { session: 'two', said: 'word' })
    expect(await found('word')).toEqual(['two user', 's user'])
    const [state] = await sql.all<{ mark_xid: string }>('SELECT mark_xid::text FROM search_state')
    expect(Number(state?.mark_xid)).toBeLessThan(9_999_999_999)
  })

  it('takes the words of a run again when it goes on, ends, or is checked', async () => {
    const number = await seedRun(sql, { said: 'secret', status: 'running', unchecked: true })
    expect(await found('secret')).toEqual([])
    expect(await words(number)).toBe("':s'")
    await sql.run('UPDATE run SET unchecked = false')
    expect(await found('secret')).toEqual(['s user'])
    const output = JSON.stringify([['m', 'assistant', [{ type: 'text', text: 'answer' }], '2030']])
    await sql.run(`UPDATE run SET status = 'completed', output = $1`, [output])
    expect(await found('answer')).toEqual(['s assistant'])
    expect(await sql.all('SELECT 1 FROM run_words WHERE look IS NOT NULL')).toEqual([])
  })

  it('keeps no words of deleted runs, also of those that it just reads', async () => {
    const number = await seedRun(sql, { said: 'secret' })
    await found('secret')
    await inTransaction(sql, async () => {
      await sql.run('DELETE FROM run')
      await forgetWords(sql, [number])
    })
    expect(await found('secret')).toEqual([])
    expect(await words(number)).toBeUndefined()
    const other = await seedRun(sql, { said: 'secret' })
    await sql.begin()
    await sql.run('DELETE FROM run')
    const searching = found('secret')
    await waitingFor('FOR KEY SHARE')
    await forgetWords(sql, [other])
    await sql.exec('COMMIT')
    expect(await searching).toEqual([])
    expect(await words(other)).toBeUndefined()
  })

  it('keeps no words of messages that were taken away, whoever comes first', async () => {
    const number = await seedRun(sql, { said: 'secret', answer: 'no' })
    await sql.begin()
    await erase(number)
    const searching = found('secret')
    await waitingFor('INSERT INTO run_words')
    await sql.exec('COMMIT')
    expect(await searching).toEqual([])
    expect(await words(number)).toBe("':s' 'no'")
    await sql.run('UPDATE run SET input = $1', [said('secret')])
    await renewWords(sql, [number])
    expect(await found('secret')).toEqual(['s user'])
    await inTransaction(sql, () => erase(number))
    expect(await words(number)).toBe('')
    expect(await found('secret')).toEqual([])
    expect(await found('no')).toEqual(['s assistant'])
  })

  it('keeps no words of messages that are taken away while they are read again', async () => {
    const number = await seedRun(sql, { said: 'secret', status: 'running' })
    expect(await found('secret')).toEqual(['s user'])
    await sql.run(`UPDATE run SET status = 'failed'`)
    await sql.begin()
    await erase(number)
    const searching = found('secret')
    await waitingFor('UPDATE run_words')
    await sql.exec('COMMIT')
    expect(await searching).toEqual([])
    expect(await words(number)).toBe('')
  })

  it('forgets what has become no turn, and has no words of child runs', async () => {
    const child = await seedRun(sql, { said: 'inner', parent: 'run_x' })
    expect(await found('inner')).toEqual([])
    await renewWords(sql, [child, 99])
    expect(await found('inner')).toEqual([])
    expect(await sql.all('SELECT 1 FROM run_words')).toEqual([])
  })

  it('finds by the beginning of what Postgres can not hold, and cuts what is too much', async () => {
    const long = '𐐨ab'.repeat(1_000)
    const many = Array.from({ length: 160_000 }, (_, n) => `w${n.toString(36)}`).join(' ')
    await seedRun(sql, { said: `it's a \\ '${long}' b` })
    await seedRun(sql, { session: 'many', said: many })
    expect(await found(long)).toEqual(['s user'])
    expect(await found(`${long.slice(0, 2_000)}*`)).toEqual(['s user'])
    expect(await found(`${long.slice(0, 600)}zz`)).toEqual([])
    expect(await found('wa')).toEqual(['many user'])
  })

  it('finds what is in a very long message, and runs around it', async () => {
    await seedRun(sql, { session: 'before', said: 'needle' })
    await seedRun(sql, { session: 'long', said: `${'hay '.repeat(1_200_000)} needle` })
    await seedRun(sql, { session: 'after', said: 'needle' })
    expect(await found('needle')).toEqual(['after user', 'long user', 'before user'])
    await inTransaction(sql, () => erase(2))
    expect(await found('needle')).toEqual(['after user', 'before user'])
  })

  it('searches in several stores at once while runs come in', async () => {
    const searches = Array.from({ length: 12 }, async (_, n) => {
      const own = await connect()
      await seedRun(own, { session: `s${n}`, said: 'busy' })
      return (await found('busy', stores[n % 2])).includes(`s${n} user`)
    })
    expect(await Promise.all(searches)).toEqual(searches.map(() => true))
    expect(await found('busy')).toHaveLength(12)
  })

  const said = (text: string) => JSON.stringify([['m', 'user', [{ type: 'text', text }], '2030']])
  async function erase(number: number): Promise<void> {
    await sql.run('UPDATE run SET input = $1 WHERE run_number = $2', [said(''), number])
    await renewWords(sql, [number])
  }

  /** As if the last search had been a while ago. */
  async function makeOld(): Promise<void> {
    await sql.run(`UPDATE search_state SET mark_at = mark_at - interval '1 minute'`)
  }

  /** Resolves when a search waits for a lock with this statement. */
  async function waitingFor(statement: string): Promise<void> {
    const observer = await connect()
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND position($1 in query) > 0
      AND datname = current_database() AND application_name = 'agentserve works'`
    while ((await observer.all(waiting, [statement])).length === 0) await new Promise(setImmediate)
  }
})
