import { expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { createUsers } from '../../../src/service/access/user-data.ts'
import { scopeToUser } from '../../../src/service/access/user-scope.ts'
import { createOnce } from '../../../src/service/idempotency.ts'
import { createSummaries } from '../../../src/service/sessions/summaries.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { echo, openServices, request } from '../../support/services.ts'

test('the run of another does not exist, whether its session is there or gone', async () => {
  const store = memoryStore()
  let isGone = false
  const findSession = async (id: string) => (isGone ? undefined : store.findSession(id))
  const services = await openServices({ echo }, { ...store, findSession })
  const common = { store, clock: Date.now, logger: silentLogger }
  const once = createOnce(store, Date.now, silentLogger)
  const summaries = createSummaries({ ...common, summarizer: undefined, timeoutMs: 1 })
  const [ann, bob] = ['ann', 'bob'].map((user) =>
    scopeToUser(
      {
        ...services,
        summaries,
        users: createUsers({ ...services, clock: Date.now }),
        once,
        backup: () => emptyArchive(),
        logger: silentLogger,
      },
      store,
      user,
    ),
  )
  const handle = await bob?.runs.start(request('echo', 'x'))
  await handle?.result()
  const runId = handle?.runId ?? ''
  for (const gone of [false, true]) {
    isGone = gone
    expect((await bob?.runs.get(runId))?.run_id).toBe(runId)
    await expect(ann?.runs.get(runId)).rejects.toMatchObject({ code: 'run_not_found' })
  }
})

async function* emptyArchive(): AsyncGenerator<Uint8Array> {}
