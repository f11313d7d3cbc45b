import { afterEach, expect, test } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import type { CallAnswer } from '../../../src/core/run.ts'
import type { Runnable } from '../../../src/core/runnable.ts'
import type { RunPiece, SessionHead } from '../../../src/core/session.ts'
import { partsOf } from '../../../src/runnables/again/answer-stream.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { asTool } from '../../../src/runnables/tools/as-tool.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { closeAsking, saidBy, serveAsking } from '../../runnables/asking.ts'
import { answer, scripted } from '../../runnables/fixture.ts'

afterEach(closeAsking)

/** Needs two approvals, one after the other. */
const twice = workflow({
  name: 'twice',
  run: async ({ text, approve }) => `${text}${await approve('one')}${await approve('two')}`,
})
const other = workflow({ name: 'other', run: async ({ text, approve }) => `${text}${await approve('one')}` })

const callBoth = (prefix: string, field: string) =>
  partsOf({
    tool_calls: ['twice', 'other'].map((name) => ({ name: prefix + name, input: { [field]: name }, call_id: name })),
    usage: { input_tokens: 1, output_tokens: 1 },
  })
/** A model for the original and the copy: the second answer of each is of what it was told. */
const model = (prefix: string, field: string) =>
  scripted(callBoth(prefix, field), answer('Done.'), answer('Done.'), answer('Done.'))

const parents: Record<string, () => Runnable> = {
  'a workflow that asks': () =>
    workflow({
      run: async ({ ask }) =>
        (await Promise.all([ask('twice', 'twice'), ask('other', 'other')])).map(({ text }) => text).join(),
    }),
  "an agent's own code": () =>
    agent({
      async *run({ ask }) {
        yield 'Both: '
        yield (await Promise.all([ask('twice', 'twice'), ask('other', 'other')])).map(({ text }) => text).join()
      },
    }),
  'an agent with entities as tools': () =>
    agent({ model: model('', 'question'), tools: { twice: asTool('twice'), other: asTool('other') } }),
  'a team with a leader': () => team({ mode: 'lead', model: model('ask_', 'task'), members: ['twice', 'other'] }),
  'a workflow around a parallel team': () => workflow({ run: async ({ ask }) => (await ask('group', 'x')).text }),
}
const group = team({ mode: 'parallel', members: ['twice', 'other'] })

type Served = Awaited<ReturnType<typeof serveAsking>>

async function copy({ sessions }: Served, how: string, sessionId: string): Promise<string> {
  if (how === 'fork') return (await sessions.fork(sessionId, {})).session.session_id
  const exported: unknown[] = []
  for await (const piece of await sessions.export(sessionId, true)) exported.push(piece)
  const [head, ...runs] = exported
  const { session, summary } = head as SessionHead
  async function* pieces() {
    yield* runs as RunPiece[]
  }
  return (await sessions.import({ session, summary, runs: pieces() }, { newIds: true })).session.session_id
}

/** Every run of the session, and all its events. */
async function everything({ store, eventsOf }: Served, sessionId: string): Promise<[object, RunEvent[]][]> {
  const runs = await store.readRecords(sessionId, undefined, 100)
  return Promise.all(runs.map(async (run) => [run, await eventsOf(run.run_id)] as [object, RunEvent[]]))
}

/** An answer for each open request; its input says for which. */
async function answersTo(served: Served, runId: string) {
  const { waiting } = await served.runs.get(runId)
  return Object.fromEntries(
    waiting.map(({ call_id = '' }): [string, CallAnswer] => [
      call_id,
      { approved: true, input: `-${call_id.split('/').at(-1)}` },
    ]),
  )
}

test.each(
  Object.keys(parents).flatMap((name) =>
    ['fork', 'import'].flatMap((how) => [0, 1].map((before) => [name, how, before] as const)),
  ),
)('%s is resumed in a copy: %s after %i answers', async (name, how, before) => {
  const main = parents[name]?.() as Runnable
  const served = await serveAsking({ main, twice, other, group })
  const { run_id: runId, session_id: sessionId, status, error } = await served.run()
  expect({ status, error }).toEqual({ status: 'input_required', error: null })
  if (before > 0) await served.resume(runId, { answers: await answersTo(served, runId) })
  const original = await everything(served, sessionId)
  const ids = original.map(([run]) => (run as { run_id: string }).run_id)

  const copied = await copy(served, how, sessionId)
  for (const id of ids) expect(JSON.stringify(await everything(served, copied))).not.toContain(id)
  const { items } = await served.runs.list({ session_id: copied }, { limit: 10 })
  const top = items.find(({ parent_run_id }) => parent_run_id === null)
  const copyId = top?.run_id ?? ''
  for (let left = 2 - before; left > 0; left--) {
    const answers = await answersTo(served, copyId)
    expect(Object.keys(answers)).toHaveLength(left === 2 ? 2 : 1)
    const { status } = await served.resume(copyId, { answers })
    expect(status).toBe(left === 2 ? 'input_required' : 'completed')
  }
  const results = JSON.stringify(await everything(served, copied))
  for (const said of ['-one#1-two#1', '-one#1']) expect(results).toContain(said)
  expect(await everything(served, sessionId)).toEqual(original)
  expect(await served.children(copyId)).toHaveLength(ids.length > 3 ? 1 : 2)

  for (let left = 2 - before; left > 0; left--) {
    await served.resume(runId, { answers: await answersTo(served, runId) })
  }
  const ended = await served.runs.get(runId)
  expect(ended.status).toBe('completed')
  expect(saidBy(ended)).toBe(saidBy(await served.runs.get(copyId)))
})
