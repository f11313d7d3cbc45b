import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SessionListFilter, SessionStore } from '../../../../src/core/store.ts'
import { sqliteStore } from '../../../../src/store/sessions/sqlite/store.ts'
import { Connection } from '../../../../src/store/sqlite/connection.ts'

/* More sessions than one page looks at: 12,000, of which half failed, most of them the oldest. */

let folder: string
let store: SessionStore
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-status-'))
  const path = join(folder, 'agentserve.db')
  const options = { path, synchronous: 'NORMAL' as const }
  store = sqliteStore(options)
  await store.open()
  await store.close()
  const database = await Connection.open({ path, readonly: false, busyTimeoutMs: 1_000 })
  const numbers = 'WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 11999)'
  const id = `printf('s%05d', n)`
  await database.run(
    `${numbers} INSERT INTO sessions (session_id, user_id, created_at, updated_at, revision, run_count)
       SELECT ${id}, iif(n % 2, 'ann', 'bob'), '2026', printf('2026-%05d', n), 1, 1 FROM n`,
    [],
  )
  await database.run(
    `${numbers} INSERT INTO runs (run_number, run_id, run_session_id, entity_id, status, truncated, owner, fence,
         reserve_until, recorded_seq, begun, ended, input)
       SELECT n + 1, ${id}, ${id}, 'echo', iif(n < 6000, 'failed', 'completed'), 0, '', 1, 9, 1,
         '{"entity_kind":"agent","created_at":"2026"}', '{"completed_at":"2026","end_seq":2}', '[]' FROM n`,
    [],
  )
  await database.close()
  store = sqliteStore(options)
  await store.open()
})
afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

async function walk(filter: SessionListFilter): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = []
  let pages = 0
  for (let cursor: string | undefined; ; ) {
    const { items, next } = await store.listOverviews(filter, { limit: 100, cursor })
    for (const { session_id } of items) ids.push(session_id)
    pages++
    if (next === null) return { ids, pages }
    cursor = next
  }
}

test('a page ends before it has looked at everything, and the next one goes on there', async () => {
  const first = await store.listOverviews({ status: 'failed' }, { limit: 100 })
  expect(first.items).toEqual([])
  expect(first.next).not.toBeNull()
  const { ids, pages } = await walk({ status: 'failed' })
  expect(ids).toHaveLength(6_000)
  expect(ids).toEqual([...new Set(ids)].sort().reverse())
  expect(pages).toBeLessThan(70)
})

test.each<[number, SessionListFilter]>([
  [6_000, { status: 'failed' }],
  [6_000, { status: 'completed' }],
  [3_000, { status: 'failed', user_id: 'ann' }],
  [3_000, { status: 'completed', user_id: 'bob' }],
  [3_000, { status: 'completed', user_id: 'bob', as_user: true }],
  [3_000, { status: 'failed', user_id: 'bob', as_user: true }],
  [10, { status: 'failed', updated_before: '2026-00010' }],
  [0, { status: 'interrupted' }],
])('counts %i sessions as the pages do: %j', async (count, filter) => {
  expect(await store.countSessions(filter)).toBe(count)
  expect((await walk(filter)).ids).toHaveLength(count)
})
