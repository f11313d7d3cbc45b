import { describe, expect, it } from 'vitest'
import type { AuditEntry } from '../../../src/core/access/audit.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { at } from './builders.ts'

const entryOf = (number: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
  entry_id: `aud_${String(number).padStart(3, '0')}`,
  at: at(number),
  action: 'session.delete',
  caller: 'desk',
  user_id: null,
  object_kind: 'session',
  object_id: `ses_${number}`,
  outcome: null,
  request_id: `req_${number}`,
  server_id: 'srv_a',
  detail: null,
  ...more,
})

export function testAudit(store: () => SessionStore): void {
  const add = async (...entries: AuditEntry[]) => {
    for (const entry of entries) await store().addAuditEntry(entry)
  }
  const list = async (filter = {}, limit = 100) => (await store().listAuditEntries(filter, { limit })).items
  const ids = async (filter = {}) => (await list(filter)).map(({ entry_id }) => entry_id)

  describe('audit entries', () => {
    it('come back as they were, newest first, page by page, also of one moment', async () => {
      const entries = [1, 2, 3, 4, 5].map((number) => entryOf(number, { at: at(number < 4 ? 1 : number) }))
      await add(...[entries[2], entries[0], entries[4], entries[1], entries[3]].map((entry) => entry as AuditEntry))
      const odd = entryOf(9, {
        object_id: 'é\'" %_',
        user_id: 'ann b',
        detail: { deleted: 3, by: null, list: ['x'] },
        outcome: 'ok',
        request_id: null,
      })
      await add(odd)
      expect(await list()).toEqual([odd, ...entries.toReversed()])
      const seen: string[] = []
      for (let cursor: string | undefined; ; ) {
        const page = await store().listAuditEntries({}, { limit: 2, cursor })
        seen.push(...page.items.map(({ entry_id }) => entry_id))
        if (page.next === null) break
        cursor = page.next
        expect(seen.length).toBeLessThan(7)
      }
      expect(seen).toEqual(await ids())
      await expect(store().listAuditEntries({}, { limit: 1, cursor: 'x' })).rejects.toMatchObject({
        code: 'invalid_request',
      })
    })

    it('have one outcome, which nothing changes', async () => {
      await add(entryOf(1, { detail: { a: 1 } }), entryOf(2))
      await store().settleAuditEntry(entryOf(1), 'ok', null)
      await store().settleAuditEntry(entryOf(2), 'session_not_found', { deleted: 0 })
      await store().settleAuditEntry(entryOf(1), 'failed', { b: 2 })
      await store().settleAuditEntry(entryOf(3), 'ok', null)
      expect((await list()).map(({ outcome, detail }) => [outcome, detail])).toEqual([
        ['session_not_found', { deleted: 0 }],
        ['ok', { a: 1 }],
      ])
    })

    it('are found by who, what, which, outcome and time', async () => {
      await add(
        entryOf(1, { caller: 'jwt:ann', user_id: 'ann', outcome: 'ok' }),
        entryOf(2, { action: 'user.erase', object_kind: 'user', object_id: 'bob' }),
        entryOf(3, { outcome: 'forbidden' }),
      )
      expect(await ids({ caller: 'jwt:ann' })).toEqual(['aud_001'])
      expect(await ids({ user_id: 'ann' })).toEqual(['aud_001'])
      expect(await ids({ action: 'user.erase' })).toEqual(['aud_002'])
      expect(await ids({ object_id: 'bob' })).toEqual(['aud_002'])
      expect(await ids({ outcome: 'forbidden' })).toEqual(['aud_003'])
      expect(await ids({ since: at(2) })).toEqual(['aud_003', 'aud_002'])
      expect(await ids({ until: at(2) })).toEqual(['aud_001'])
      expect(await ids({ since: at(2), until: at(3), action: 'user.erase' })).toEqual(['aud_002'])
      expect(await ids({ caller: "x' OR 1=1" })).toEqual([])
      expect(await ids({ caller: 'a\0b' })).toEqual([])
    })

    it('lose the name of a user, a few at a time, except where it was erased', async () => {
      await add(
        entryOf(1, { caller: 'laptop', user_id: 'ann' }),
        entryOf(2, { caller: 'jwt:ann' }),
        entryOf(3, { action: 'user.export', object_kind: 'user', object_id: 'ann' }),
        entryOf(4, { object_kind: 'session', object_id: 'ann' }),
        entryOf(5, { action: 'user.erase', object_kind: 'user', object_id: 'ann' }),
        entryOf(6, { caller: 'jwt:bob', user_id: 'bob' }),
      )
      const ann = { userId: 'ann', caller: 'jwt:ann' }
      const counts: number[] = []
      for (let count = 1; count > 0; counts.push(count)) count = await store().hideAuditedUser(ann, 'erased_1', 2)
      expect(counts).toEqual([2, 1, 0])
      const seen = (await list()).toReversed().map(({ caller, user_id, object_id }) => [caller, user_id, object_id])
      expect(seen).toEqual([
        ['erased_1', 'erased_1', 'ses_1'],
        ['erased_1', null, 'ses_2'],
        ['desk', null, 'erased_1'],
        ['desk', null, 'ann'],
        ['desk', null, 'ann'],
        ['jwt:bob', 'bob', 'ses_6'],
      ])
    })

    it('go when they are old, the oldest first', async () => {
      await add(...[3, 1, 2, 4].map((number) => entryOf(number)))
      expect(await store().deleteAuditEntries(at(4), 2)).toBe(2)
      expect(await ids()).toEqual(['aud_004', 'aud_003'])
      expect(await store().deleteAuditEntries(at(4), 2)).toBe(1)
      expect(await store().deleteAuditEntries(at(4), 2)).toBe(0)
      expect(await ids()).toEqual(['aud_004'])
    })
  })
}
