import { expect, test } from 'vitest'
import { createUsers } from '../../../src/service/access/user-data.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { openServices } from '../../support/services.ts'

test('a session that is deleted while a user is exported is left out, and the export goes on', async () => {
  const store = memoryStore()
  const { sessions, runs } = await openServices({}, store)
  const left = new Set(['one', 'two', 'three'])
  for (const session_id of left) await sessions.create({ session_id, user_id: 'ann' })
  const users = createUsers({ store, sessions, runs, clock: Date.now })

  let exported = 0
  for await (const piece of users.export('ann')) {
    if ('sessions' in piece) expect(piece).toEqual({ sessions: 2, runs: 0, facts: 0 })
    if (!('session' in piece)) continue
    for await (const part of piece.session) if ('session' in part) left.delete(part.session.session_id)
    const [next = ''] = left
    if (++exported === 1) await sessions.delete(next)
  }

  expect(exported).toBe(2)
  expect(left.size).toBe(1)
})
