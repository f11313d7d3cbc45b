import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSessionCopies } from '../../../src/service/sessions/copies.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'

/* Copies, deletes or prunes the session `of`, and waits until all of that is in the file. */

const [folder = '', operation] = process.argv.slice(2)
const store = sqliteStore({ path: join(folder, 'sessions.db') })
await store.open()
const origin = await store.findSession('of')
if (origin === undefined) throw new Error('There is no session to work on.')
writeFileSync(join(folder, 'armed'), '')
if (operation === 'copy') await createSessionCopies(store, Date.now).fork(origin, {})
else {
  if (operation === 'delete') await store.deleteSession('of')
  else await store.prune({ olderThan: '~' }, 10)
  // Another session of the id has to wait until nothing is left.
  const { runs: _runs, run_count: _count, summary: _summary, ...session } = origin.session
  await store.createSession(session)
  await store.deleteSession('of')
}
await store.close()
