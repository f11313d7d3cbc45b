import { Client } from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { isAppError } from '../../../src/core/error.ts'
import { Connection, type ConnectionMode } from '../../../src/store/postgres/connection.ts'
import { explainRefusal } from '../../../src/store/postgres/refusal.ts'
import { checkDatabase } from '../../../src/store/sessions/postgres/schema/database.ts'
import { type PostgresStoreOptions, postgresStore } from '../../../src/store/sessions/postgres/store.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'
import { certificate, openDoor, openTlsProxy } from '../../support/postgres/tls-proxy.ts'

const place = 'db:5432/agents, schema s'

async function refusalOf(options: Omit<PostgresStoreOptions, 'logger'>) {
  const store = postgresStore(options)
  try {
    await store.open()
  } catch (error) {
    expect(isAppError(error)).toBe(true)
    const { password } = new URL(options.url)
    const refusal = explainRefusal(error, place)
    if (password !== '') expect(JSON.stringify([refusal, String(error)])).not.toContain(password)
    return refusal
  }
  await store.close()
  return undefined
}

const local = (port: number) => `postgres://app:k9-not-to-be-seen@127.0.0.1:${port}/agents`

async function doorWith(greet: Parameters<typeof openDoor>[0]): Promise<string> {
  const door = await openDoor(greet)
  onTestFinished(() => door.close())
  return local(door.port)
}

test('a pooler that refuses the settings of connections is told from a database that may come', () => {
  const said = Object.assign(new Error('unsupported startup parameter: options'), { code: '08P01' })
  expect(explainRefusal(said, place)).toEqual({
    message: `The database at ${place} is behind a pooler. Set \`connections: 'pooled'\` beside the address, and \`listenUrl\` to one that leads past it.`,
    passes: false,
  })
})

test('a database that may come is told from one that is none', async () => {
  expect(await refusalOf({ url: local(1) })).toEqual({
    message: `The database at ${place} can't be reached: nothing listens there. Start it, or correct server.storage.url or AGENTSERVE_DATABASE_URL.`,
    passes: true,
  })
  expect(await refusalOf({ url: 'postgres://app:pw-7@nowhere.invalid/agents' })).toMatchObject({
    message: expect.stringContaining('no host has that name'),
    passes: true,
  })
  expect(await refusalOf({ url: 'postgres://app@%2Fnowhere/agents' })).toMatchObject({
    message: expect.stringContaining('no socket is there'),
    passes: true,
  })
  const closing = await doorWith((socket) => socket.end())
  expect(await refusalOf({ url: closing })).toMatchObject({
    message: expect.stringContaining('it closed the connection'),
    passes: true,
  })
  const other = await doorWith((socket) => socket.on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')))
  const foreign = { message: expect.stringContaining('does not speak the protocol of Postgres'), passes: false }
  expect(await refusalOf({ url: other, tls: {} })).toMatchObject(foreign)
  const garbage = await doorWith((socket) =>
    socket.on('data', () => socket.write(Buffer.from([0x52, 0, 0, 0, 1, 9, 9, 9, 9, 9]))),
  )
  expect(await refusalOf({ url: garbage })).toMatchObject(foreign)
  // As while another server makes the tables, which may take longer than a statement waits.
  const locked = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })
  expect(explainRefusal(locked, place)).toMatchObject({
    message: expect.stringContaining('others hold a lock'),
    passes: true,
  })
})

describePostgres('a database that refuses', () => {
  let database: Place
  const roles: string[] = []
  beforeAll(async () => {
    database = await (await testPostgres()).newDatabase()
  })
  afterAll(async () => {
    await database?.drop()
    for (const role of roles) await execute((await testPostgres()).adminUrl, `DROP ROLE IF EXISTS ${role}`)
  })

  async function execute(url: string, text: string): Promise<void> {
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query(text).finally(() => client.end())
  }

  /** The address for a role of its own, with one setting. */
  async function urlOf(name: string, settings = 'LOGIN'): Promise<string> {
    const role = `${database.name}_${name}`
    roles.push(role)
    await execute(database.adminUrl, `CREATE ROLE ${role} ${settings} PASSWORD 'k9-not-to-be-seen'`)
    const url = new URL(database.url)
    url.username = role
    url.password = 'k9-not-to-be-seen'
    return url.href
  }

  const changed = (change: (url: URL) => void) => {
    const url = new URL(database.url)
    change(url)
    return url.href
  }

  test('says that a pooler is between when the settings of a connection do not arrive', async () => {
    const client = new Client({ connectionString: database.url })
    await client.connect()
    onTestFinished(() => client.end())
    const checked = (mode: ConnectionMode) => checkDatabase(new Connection(client, mode, '', () => undefined))
    await checked('pooled')
    await expect(checked('direct')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining("Set `connections: 'pooled'` beside the address"),
    })
  })

  test('says what to do about the user, the password and the name', async () => {
    const wrong = changed((url) => (url.password = 'k9-not-to-be-seen'))
    expect(await refusalOf({ url: wrong })).toEqual({
      message: `The database at ${place} refuses the user or the password: correct server.storage.url or AGENTSERVE_DATABASE_URL.`,
      passes: false,
    })
    expect((await refusalOf({ url: changed((url) => (url.password = '')) }))?.message).toContain('asks for a password')
    expect((await refusalOf({ url: changed((url) => (url.pathname = '/none')) }))?.message).toContain(
      'does not exist: create it',
    )
    const locked = await urlOf('locked', 'NOLOGIN')
    expect(await refusalOf({ url: locked })).toMatchObject({
      message: expect.stringContaining('is not permitted to log in'),
      passes: false,
    })
  })

  test('says what a role needs that may not make tables', async () => {
    const url = await urlOf('poor')
    expect(await refusalOf({ url, schema: 'other' })).toEqual({
      message: expect.stringMatching(/too few rights \(permission denied .*`agentserve storage prepare --print`/),
      passes: false,
    })
  })

  test('refuses a role whose commits are not durable', async () => {
    const url = await urlOf('hasty')
    await execute(database.adminUrl, `ALTER ROLE ${new URL(url).username} SET synchronous_commit = off`)
    expect(await refusalOf({ url })).toMatchObject({
      message: expect.stringContaining("synchronous_commit is 'off'"),
      passes: false,
    })
  })

  test('waits for one that takes no writes: a standby may become the primary', async () => {
    const url = await urlOf('reader')
    await execute(database.adminUrl, `ALTER ROLE ${new URL(url).username} SET default_transaction_read_only = on`)
    expect(await refusalOf({ url })).toMatchObject({
      message: expect.stringContaining('it takes no writes, as a standby'),
      passes: true,
    })
  })

  test('verifies the certificate, and says which setting is missing', async () => {
    const { url } = database
    expect((await refusalOf({ url, tls: {} }))?.message).toContain('offers no TLS')
    const proxy = await openTlsProxy(url)
    onTestFinished(() => proxy.close())
    const through = changed((address) => (address.port = String(proxy.port)))
    const verified = { url: through, schema: 'through_tls' }
    expect(await refusalOf({ ...verified, tls: {} })).toMatchObject({
      message: expect.stringContaining(
        'of an unknown authority (DEPTH_ZERO_SELF_SIGNED_CERT): set server.storage.tls.ca',
      ),
      passes: false,
    })
    expect((await refusalOf({ ...verified, tls: { ca: certificate } }))?.message).toContain(
      'for another name: connect to that name, or set it as server.storage.tls.servername',
    )
    expect(await refusalOf({ ...verified, tls: { ca: certificate, servername: 'database.example' } })).toBeUndefined()
    expect(await refusalOf({ ...verified, tls: { rejectUnauthorized: false } })).toBeUndefined()
  })
})
