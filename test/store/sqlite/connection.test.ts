import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Connection } from '../../../src/store/sqlite/connection.ts'

const open = (path: string, maxStatements?: number) =>
  Connection.open({ path, readonly: false, busyTimeoutMs: 0, maxStatements })

describe('a connection', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'connection-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('answers more statements than stay prepared, many at once and each again, and closes', async () => {
    const connection = await open(':memory:', 100)
    const ask = (at: number) => connection.all(`SELECT ? AS asked, ${at} AS answered`, [at])
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(Array.from({ length: 300 }, (_, at) => ask(at % 150)))
      expect(answers.map(([row]) => row)).toEqual(answers.map((_, at) => ({ asked: at % 150, answered: at % 150 })))
    }
    await connection.close()
    await expect(ask(1)).rejects.toThrow()
  })

  it('prepares a statement again when a table has changed, also one that was wrong before', async () => {
    const path = join(folder, 'changed.db')
    await writeFile(path, '')
    const reader = await open(path)
    await expect(reader.all('SELECT * FROM one')).rejects.toThrow('no such table')
    const writer = await open(path)
    await writer.exec('CREATE TABLE one (first TEXT)')
    await writer.run("INSERT INTO one VALUES ('a')")
    expect(await reader.all('SELECT * FROM one')).toEqual([{ first: 'a' }])
    await writer.exec('ALTER TABLE one ADD COLUMN second TEXT')
    expect(await reader.all('SELECT * FROM one')).toEqual([{ first: 'a', second: null }])
    await writer.exec('DROP TABLE one')
    await reader.close()
    await writer.close()
  })
})
