import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { type PostgresProxy, startProxy } from '../../support/postgres/proxy.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'

describePostgres('the proxy before Postgres', () => {
  let place: Place
  let proxy: PostgresProxy
  let direct: Client
  let client: Client

  async function connect(url: string): Promise<Client> {
    const made = new Client({ connectionString: url })
    // A client that has no query at work tells of its end by an event.
    made.on('error', () => undefined)
    await made.connect()
    return made
  }
  const count = async () => (await direct.query('SELECT count(*)::int AS n FROM kept')).rows[0].n

  beforeAll(async () => {
    place = await (await testPostgres()).newDatabase()
    direct = await connect(place.url)
  })
  beforeEach(async () => {
    await direct.query('CREATE TABLE kept (n int)')
    proxy = await startProxy(place.url)
    client = await connect(proxy.url)
  })
  afterEach(async () => {
    await proxy.stop()
    await client.end()
    await vi.waitFor(() => expect(proxy.connections).toBe(0), { timeout: 10_000 })
    await direct.query('DROP TABLE kept')
  })
  afterAll(async () => {
    await direct.end()
    await place.drop()
  })

  test('passes what both say, also much of it', async () => {
    const text = 'é'.repeat(3_000_000)
    const { rows } = await client.query('SELECT $1::text AS said, length($1) AS length', [text])
    expect(rows).toEqual([{ said: text, length: text.length }])
  })

  test('cuts a connection in the middle of a statement and takes the next one', async () => {
    const sleeping = client.query('SELECT pg_sleep(60)')
    await seesStatement('pg_sleep')
    proxy.cut()
    await expect(sleeping).rejects.toThrow('ECONNRESET')
    client = await connect(proxy.url)
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  test('refuses new connections only, until it heals', async () => {
    await proxy.refuse()
    await expect(connect(proxy.url)).rejects.toThrow('ECONNREFUSED')
    await client.query('INSERT INTO kept VALUES (1)')
    await proxy.heal()
    await (await connect(proxy.url)).end()
    expect(await count()).toBe(1)
  })

  test('is silent while it stalls, and loses nothing', async () => {
    proxy.stall()
    const late: unknown[] = []
    const inserted = client.query('INSERT INTO kept VALUES (1)').then(() => late.push('inserted'))
    const connected = connect(proxy.url).then((other) => {
      late.push('connected')
      return other.end()
    })
    // This takes several turns of both programs.
    expect(await count()).toBe(0)
    expect(late).toEqual([])
    await proxy.heal()
    await Promise.all([inserted, connected])
    expect(await count()).toBe(1)
  })

  test('delays what is asked and keeps its order', async () => {
    proxy.delay(3_600_000)
    const inserted = [1, 2].map((n) => client.query('INSERT INTO kept VALUES ($1)', [n]))
    expect(await count()).toBe(0)
    await proxy.heal()
    await Promise.all(inserted)
    proxy.delay(1)
    expect((await client.query('SELECT n FROM kept ORDER BY ctid')).rows).toEqual([{ n: 1 }, { n: 2 }])
  })

  test('loses a request, which the server then does not carry out', async () => {
    const lost = proxy.lose('request', /INSERT INTO kept/)
    await client.query('SELECT 1')
    await expect(client.query('INSERT INTO kept VALUES ($1)', [1])).rejects.toThrow('terminated')
    await lost
    expect(await count()).toBe(0)
  })

  test('loses the answer of a commit, which the server has carried out', async () => {
    await client.query('BEGIN')
    await client.query('INSERT INTO kept VALUES (1)')
    const lost = proxy.lose('answer', /^COMMIT/)
    await expect(client.query('COMMIT')).rejects.toThrow('terminated')
    await lost
    expect(await count()).toBe(1)
  })

  test('loses the answer of a prepared statement, once, and not that of one that failed', async () => {
    const insert = (n: unknown) => client.query({ name: 'insert', text: 'INSERT INTO kept VALUES ($1)', values: [n] })
    await insert(1)
    const lost = proxy.lose('answer', /INSERT/)
    await expect(insert('no number')).rejects.toThrow('invalid input syntax')
    await expect(insert(2)).rejects.toThrow('terminated')
    await lost
    client = await connect(proxy.url)
    await insert(3)
    expect(await count()).toBe(3)
  })

  test('keeps the order of an answer that is no longer to be lost when it is complete', async () => {
    await direct.query('SELECT pg_advisory_lock(1)')
    void proxy.lose('answer', /pg_advisory_lock/)
    const rows = client.query("SELECT repeat('a', 20000) AS said UNION ALL SELECT pg_advisory_lock(1)::text")
    await vi.waitFor(async () => {
      const { rowCount } = await direct.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
      expect(rowCount).toBe(1)
    }, 10_000)
    await proxy.heal()
    await direct.query('SELECT pg_advisory_unlock(1)')
    expect((await rows).rows).toEqual([{ said: 'a'.repeat(20_000) }, { said: '' }])
  })

  test('loses answers after a number of bytes', async () => {
    const dropped = proxy.passAnswers(10_000)
    await client.query("SELECT repeat('a', 5000)")
    await expect(client.query("SELECT repeat('a', 5000)")).rejects.toThrow('terminated')
    await dropped
  })

  test('leaves the server with the locks of a client that is gone', async () => {
    await client.query('BEGIN')
    await client.query('LOCK TABLE kept')
    proxy.cut('client')
    await expect(client.query('SELECT 1')).rejects.toThrow()
    await expect(direct.query('LOCK TABLE kept NOWAIT')).rejects.toThrow()
    await proxy.heal()
    await direct.query('BEGIN; LOCK TABLE kept; COMMIT')
  })

  test('leaves the client waiting for a server that is gone', async () => {
    await client.query('BEGIN')
    await client.query('LOCK TABLE kept')
    proxy.cut('server')
    await direct.query('BEGIN; LOCK TABLE kept; COMMIT')
    const waiting = client.query('SELECT 1')
    await proxy.heal()
    await expect(waiting).rejects.toThrow('ECONNRESET')
  })

  async function seesStatement(text: string): Promise<void> {
    await vi.waitFor(async () => {
      const { rows } = await direct.query('SELECT query FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
      expect(rows.map(({ query }) => query).join()).toContain(text)
    }, 10_000)
  }
})
