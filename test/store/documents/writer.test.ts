import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openWriter } from '../../../src/store/documents/writer.ts'
import { Connection } from '../../../src/store/sqlite/connection.ts'

describe('the writer of the document store', () => {
  let connection: Connection
  beforeEach(async () => {
    connection = await Connection.open({ path: ':memory:', readonly: false, busyTimeoutMs: 0 })
    await connection.exec('CREATE TABLE t (v INTEGER PRIMARY KEY)')
  })
  afterEach(() => connection.close())
  const values = async () => (await connection.all('SELECT v FROM t ORDER BY v')).map((row) => row.v)

  it('keeps all that succeed and none of what fails, although they shared a commit', async () => {
    let rollbacks = 0
    const writer = openWriter(connection, () => rollbacks++)
    const insert = (...numbers: number[]) =>
      writer.transaction(async (target) => {
        for (const number of numbers) await target.run('INSERT INTO t VALUES (?)', [number])
        return numbers.length
      })
    const outcomes = await Promise.allSettled([insert(1, 2), insert(3, 1), insert(4), insert(5, 6, 5), insert(7)])
    expect(outcomes.map((outcome) => outcome.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(await values()).toEqual([1, 2, 4, 7])
    expect(rollbacks).toBeGreaterThan(0)
    expect(await insert(8)).toBe(1)
  })

  it('commits what waits together at once', async () => {
    let commits = 0
    const run = connection.run.bind(connection)
    connection.run = (sql, parameters) => {
      if (sql === 'COMMIT') commits++
      return run(sql, parameters)
    }
    const writer = openWriter(connection, () => {})
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        writer.transaction((target) => target.run('INSERT INTO t VALUES (?)', [at])),
      ),
    )
    expect(commits).toBe(3)
    expect(await values()).toHaveLength(20)
    await writer.idle()
  })
})
