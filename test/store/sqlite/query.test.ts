import { asc, eq } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Connection } from '../../../src/store/sqlite/connection.ts'
import { execute, type Places, placesOf, query } from '../../../src/store/sqlite/query.ts'

const notes = sqliteTable('notes', {
  noteId: text('note_id').primaryKey(),
  title: text('note_title'),
  size: integer('note_size').notNull(),
})
type Note = typeof notes.$inferSelect

const insert = query((database, _: Places<Note>) => database.insert(notes).values(placesOf(notes)))
const grow = query((database, { noteId }: Places<{ noteId: string }>) =>
  database.update(notes).set({ size: 9 }).where(eq(notes.noteId, noteId)),
)
const list = query((database, _: Places<object>) => database.select().from(notes).orderBy(asc(notes.noteId)))

describe('a query that drizzle builds', () => {
  let first: Connection
  let second: Connection
  beforeEach(async () => {
    const open = () => Connection.open({ path: ':memory:', readonly: false, busyTimeoutMs: 0 })
    first = await open()
    second = await open()
    for (const connection of [first, second]) {
      await connection.exec('CREATE TABLE notes (note_size INTEGER, note_id TEXT PRIMARY KEY, note_title TEXT)')
    }
  })
  afterEach(async () => {
    await first.close()
    await second.close()
  })

  it('gives rows by the names of the schema, and otherwise the number of changed rows', async () => {
    expect(await insert(first, { noteId: 'a', title: null, size: 1 })).toBe(1)
    expect(await insert(first, { noteId: 'b', title: 'x', size: 2 })).toBe(1)
    expect(await grow(first, { noteId: 'b' })).toBe(1)
    expect(await grow(first, { noteId: 'c' })).toBe(0)
    expect(await list(first, {})).toEqual([
      { noteId: 'a', title: null, size: 1 },
      { noteId: 'b', title: 'x', size: 9 },
    ])
  })

  it('runs on the connection that it is given', async () => {
    await insert(first, { noteId: 'a', title: null, size: 1 })
    expect(await list(second, {})).toEqual([])
    expect(await execute(first, (database) => database.delete(notes).where(eq(notes.size, 1)))).toBe(1)
    expect(await list(first, {})).toEqual([])
  })

  it('fails with the error of SQLite, which holds no value', async () => {
    const secret = { noteId: 'a', title: 'secret', size: 1 }
    await insert(first, secret)
    const error: unknown = await insert(first, secret).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'SQLITE_CONSTRAINT' })
    expect(String(error)).not.toContain('secret')
  })
})
