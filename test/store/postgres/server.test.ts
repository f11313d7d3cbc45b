import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeOwnPostgres, describePostgres } from '../../support/postgres/describe-postgres.ts'
import { dropPlaces, execute } from '../../support/postgres/places.ts'
import { startPostgres } from '../../support/postgres/server.ts'
import { testPostgres } from '../../support/postgres/test-postgres.ts'

describePostgres('the shared Postgres', () => {
  test('answers a query', async () => {
    const { url } = await testPostgres()
    expect(await execute(url, 'SELECT 1')).toEqual([1])
  })

  test('gives each test a schema or a database of its own, which it can drop', async () => {
    const { url, newDatabase, newSchema } = await testPostgres()
    const [schema, other] = [newSchema(), newSchema()]
    expect(other.name).not.toBe(schema.name)
    await execute(url, `CREATE SCHEMA ${schema.name} CREATE TABLE kept (n int)`)
    const database = await newDatabase()
    expect(await execute(database.url, 'SELECT current_database()')).toEqual([database.name])
    await schema.drop()
    await database.drop()
    await expect(execute(url, `SELECT n FROM ${schema.name}.kept`)).rejects.toThrow('does not exist')
    await expect(execute(database.url, 'SELECT 1')).rejects.toThrow('does not exist')
  })
})

describeOwnPostgres('a Postgres of a test', () => {
  test('keeps its data over a crash, and leaves neither process nor files', async () => {
    const server = await startPostgres()
    await execute(server.url, 'CREATE TABLE kept AS SELECT 7 AS number')
    const before = server.pid
    await server.restart('immediate')
    expect(server.pid).not.toBe(before)
    expect(await execute(server.url, 'SELECT number FROM kept')).toEqual([7])
    await server.stop()
    expect(existsSync(server.folder)).toBe(false)
    expect(() => process.kill(server.pid, 0)).toThrow('ESRCH')
  })

  test('takes no client without its password, and programs are no superuser', async () => {
    await using server = await startPostgres()
    const { url } = server
    const wrong = new URL(url)
    wrong.password = 'wrong'
    await expect(execute(wrong.href, 'SELECT 1')).rejects.toThrow('password authentication failed')
    expect(await execute(url, 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user')).toEqual([false])
  })

  test('is away between halt and resume, and has the parameters it was given', async () => {
    await using server = await startPostgres({ durable: true, settings: { work_mem: '3MB' } })
    expect(await execute(server.url, "SELECT current_setting('fsync'), current_setting('work_mem')")).toEqual([
      'on',
      '3MB',
    ])
    await server.halt('fast')
    await expect(execute(server.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED')
    await server.resume()
    expect(await execute(server.url, 'SELECT 1')).toEqual([1])
  })

  test('loses what a run has named on it, and nothing else', async () => {
    await using server = await startPostgres()
    await execute(server.url, 'CREATE SCHEMA test_1_a CREATE TABLE kept (n int)')
    await execute(server.url, 'CREATE SCHEMA testx1_a')
    await execute(server.url, 'CREATE DATABASE test_1_b')
    await dropPlaces(server.url, 'test_1_')
    const names = 'SELECT nspname::text FROM pg_namespace UNION SELECT datname FROM pg_database'
    expect((await execute(server.url, names)).filter((name) => `${name}`.startsWith('test'))).toEqual(['testx1_a'])
  })

  test('says why it does not start, and leaves no file', async () => {
    const failed = startPostgres({ settings: { work_mem: 'much' } })
    await expect(failed).rejects.toThrow('invalid value for parameter "work_mem"')
  })
})
