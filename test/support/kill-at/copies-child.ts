import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { usualLimits } from '../../../src/config/settings/limits.ts'
import { filePieceBytes } from '../../../src/core/file.ts'
import { createSessionCopies } from '../../../src/service/sessions/copies.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { startOf } from '../../contract/session-store/builders.ts'

/* Copies, deletes or prunes the session `of`, or keeps its try, and waits until all of that is in the file. */

const [folder = '', operation] = process.argv.slice(2)
const store = sqliteStore({ path: join(folder, 'sessions.db') })
await store.open()
const origin = await store.findSession('of')
if (origin === undefined) throw new Error('There is no session to work on.')
writeFileSync(join(folder, 'armed'), '')
if (operation === 'save') {
  const file = { session_id: 'of', run_id: 'run_new', media_type: 'a/b', name: null, url: null }
  await store.saveFile({ ...file, bytes: new Uint8Array(5 * filePieceBytes).fill(9) })
  await store.startRun(startOf({ run: { run_id: 'run_new', session_id: 'of' }, session: null }))
} else if (operation === 'copy') await createSessionCopies(store, Date.now, usualLimits()).fork(origin, {})
else if (operation === 'keep')
  await store.keepTry({ run_id: 'run_try', turn: 'run_of', at: '2030-01-01T00:00:09.000Z' })
else if (operation === 'keep apart') {
  const andTry = await store.findRun('run_try')
  await createSessionCopies(store, Date.now, usualLimits()).fork(origin, { beforeRunId: 'run_of', andTry })
} else {
  if (operation === 'delete') await store.deleteSession('of')
  else await store.prune({ olderThan: '~' }, 10)
  // Another session of the id has to wait until nothing is left.
  const { runs: _runs, run_count: _count, summary: _summary, ...session } = origin.session
  await store.createSession(session)
  await store.deleteSession('of')
}
await store.close()
