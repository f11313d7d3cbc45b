import { afterEach, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { afterCrash, closeAsking, saidBy, serveAsking } from '../../runnables/asking.ts'
import { request } from '../../support/services.ts'

afterEach(closeAsking)

const never = new Promise<never>(() => {})
const careful = workflow({ run: async ({ text, approve }) => `${text}: ${await approve('publish')}` })
/** Three levels of runs, of which the innermost waits. */
const deep = () => ({
  main: workflow({ run: async ({ ask }) => (await ask('middle', 'x')).text }),
  middle: agent({ run: async ({ ask }) => (await ask('group', 'y')).text }),
  group: team({ members: [careful] }),
})

type Served = Awaited<ReturnType<typeof serveAsking>>

/** What every run of the session is now. */
async function statuses({ runs }: Served): Promise<string[]> {
  const all = [...(await runs.list({}, { limit: 200 })).items, ...(await insideOf(runs))]
  const records = await Promise.all([...new Set(all.map(({ run_id }) => run_id))].map((id) => runs.get(id)))
  return records.map((run) => `${run.entity_id} ${run.status} ${run.cancellation_reason ?? ''}`.trim()).toSorted()
}

async function insideOf(runs: Served['runs']) {
  const found = [...(await runs.list({}, { limit: 200 })).items]
  for (const { run_id } of found) {
    for (const child of (await runs.list({ parent_run_id: run_id }, { limit: 200 })).items) {
      if (!found.some((other) => other.run_id === child.run_id)) found.push(child)
    }
  }
  return found
}

test('cancelling a run cancels what waits inside it, at every depth', async () => {
  const served = await serveAsking(deep())
  const { run_id: runId, status } = await served.run()
  expect(status).toBe('input_required')
  expect(await statuses(served)).toHaveLength(4)
  await served.runs.cancel(runId)
  for (const one of await statuses(served)) expect(one).toMatch(/ cancelled requested$/)
})

test('a run that takes the place of a turn cancels what waits inside it, at every depth', async () => {
  const served = await serveAsking({ ...deep(), echo: agent({ run: ({ text }) => text }) })
  const { run_id: runId, session_id: sessionId } = await served.run()
  await (await served.runs.start(request('echo', 'hi', { sessionId, replaces: runId }))).result()
  const [echo, ...others] = (await statuses(served)).toSorted((one) => (one.startsWith('echo') ? -1 : 1))
  expect(echo).toBe('echo completed')
  expect(others).toHaveLength(4)
  for (const one of others) expect(one).toMatch(/ cancelled superseded$/)
})

test('deleting the session deletes what waits in it', async () => {
  const served = await serveAsking(deep())
  const { session_id: sessionId } = await served.run()
  const ids = (await insideOf(served.runs)).map(({ run_id }) => run_id)
  expect(ids).toHaveLength(4)
  await served.sessions.delete(sessionId)
  for (const id of ids) await expect(served.runs.get(id)).rejects.toMatchObject({ code: 'run_not_found' })
})

test('cancelling a run cancels all that waits inside it, however many', async () => {
  const main = workflow({
    run: async ({ ask }) => Promise.all(Array.from({ length: 120 }, (_, n) => ask('careful', `${n}`))),
  })
  const served = await serveAsking({ main, careful })
  const { run_id: runId } = await served.run()
  await served.runs.cancel(runId)
  const left = await served.runs.list({ parent_run_id: runId, status: 'input_required' }, { limit: 200 })
  expect(left.items).toEqual([])
  const all = await served.runs.list({ parent_run_id: runId, status: 'cancelled' }, { limit: 200 })
  expect(all.items).toHaveLength(120)
})

/** A workflow, or a team, inside `main`: one part of it waits while the process dies in the other. */
async function interrupted(inner: 'workflow' | 'team') {
  const begun = Promise.withResolvers<void>()
  let isStuck = true
  const stuck = agent({
    name: 'stuck',
    async run() {
      begun.resolve()
      return isStuck ? never : 'free'
    },
  })
  const flow = workflow({
    run: async ({ ask }) =>
      (await Promise.all([ask('careful', 'x'), ask('stuck', 'y')])).map(({ text }) => text).join(),
  })
  const middle = inner === 'workflow' ? flow : team({ mode: 'parallel', members: ['careful', 'stuck'] })
  const main = workflow({ run: async ({ ask }) => (await ask('middle', 'x')).text })
  const entities = { main, middle, careful, stuck }
  const one = await serveAsking(entities)
  const { runId } = await one.start()
  await begun.promise
  await expect.poll(async () => (await statuses(one)).join()).toContain('careful input_required')
  isStuck = false
  return { runId, served: await afterCrash(one.store, entities) }
}

test.each(['workflow', 'team'] as const)(
  'cancelling an interrupted run cancels what waits inside its interrupted %s',
  async (inner) => {
    const { runId, served } = await interrupted(inner)
    expect(await statuses(served)).toContain('careful input_required')
    await served.runs.cancel(runId)
    expect(await statuses(served)).toEqual([
      'careful cancelled requested',
      'main cancelled requested',
      inner === 'workflow' ? 'middle cancelled requested' : 'middle interrupted',
      'stuck interrupted',
    ])
  },
)

test('what waits inside an interrupted team is cancelled when the team is asked again', async () => {
  const { runId, served } = await interrupted('team')
  expect(await served.resume(runId)).toMatchObject({ status: 'input_required' })
  const all = await statuses(served)
  expect(all.filter((one) => one.startsWith('careful'))).toEqual([
    'careful cancelled parent_ended',
    'careful input_required',
  ])
  expect(saidBy(await served.resume(runId, { approved: true, input: 'ok' }))).toContain('x: ok')
})

test('a resumed run that ends without what waited inside it cancels that', async () => {
  let isBack = false
  const main = agent({
    async run({ ask }) {
      if (isBack) return 'No more questions.'
      return (await ask('careful', 'x')).text
    },
  })
  const served = await serveAsking({ main, careful })
  const { run_id: runId } = await served.run()
  isBack = true
  expect(await served.resume(runId, { approved: true })).toMatchObject({ status: 'completed' })
  await expect.poll(() => statuses(served)).toEqual(['careful cancelled parent_ended', 'main completed'])
})
