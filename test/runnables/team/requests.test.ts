import { afterEach, expect, test } from 'vitest'
import type { InputRequired, RunEvent } from '../../../src/core/event.ts'
import type { Runnable } from '../../../src/core/runnable.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import type { ResumeAnswer } from '../../../src/service/services.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { collect, openServices, request, runnable } from '../../support/services.ts'
import { answer, callTool, scripted } from '../fixture.ts'

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

async function serve(entity: Runnable, store?: SessionStore) {
  const { runs } = await openServices({ it: entity }, store)
  open.push(() => runs.shutdown(0))
  const eventsOf = async (runId: string) => collect(await runs.events(runId, 0))
  return {
    runs,
    eventsOf,
    async pause() {
      const run = await (await runs.start(request('it', 'Go'))).result()
      expect(run).toMatchObject({ status: 'input_required', error: null })
      return { runId: run.run_id, asked: requestsOf(await eventsOf(run.run_id)) }
    },
    async resume(runId: string, given: Omit<ResumeAnswer, 'mode'>) {
      const run = await (await runs.resume(runId, { ...given, mode: 'plain' })).result()
      const said = run.messages.find(({ role }) => role === 'assistant')?.content
      const asked = requestsOf((await eventsOf(runId)).filter(({ seq }) => seq > 1)).slice(-5)
      return { status: run.status, said, asked, error: run.error }
    },
    children: async (runId: string) => (await runs.list({ parent_run_id: runId }, { limit: 100 })).items,
  }
}

function requestsOf(events: readonly RunEvent[]): InputRequired[] {
  return events.filter((event) => event.type === 'input_required')
}

/** Says whether it was allowed to publish, and what came with the decision. */
const publisher = (name: string) =>
  workflow({
    name,
    run: async ({ approve }) => {
      const input = await approve('publish', { by: name }).catch((error: Error) => error.message)
      return `${name}: ${JSON.stringify(input ?? 'yes')}`
    },
  })

const both = () => team({ mode: 'parallel', members: [publisher('one'), publisher('two')] })

function idsOf(asked: readonly InputRequired[]): string[] {
  return asked.map(({ call_id }) => call_id ?? '')
}

test('two members that ask by the same name at the same time get two answers', async () => {
  const { pause, resume, children } = await serve(both())
  const { runId, asked } = await pause()
  const members = Object.fromEntries((await children(runId)).map(({ entity_id, run_id }) => [entity_id, run_id]))
  const expected = ['one', 'two'].map((name) => ({
    call_id: `${members[name]}/publish#1`,
    child_run_id: members[name],
    kind: 'approval',
    data: { by: name },
  }))
  expect(asked).toMatchObject(expected)
  const [one = '', two = ''] = idsOf(asked)
  await expect(resume(runId, { approved: { [one]: true } })).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(resume(runId, { approved: { 'publish#1': true } })).rejects.toMatchObject({ code: 'invalid_request' })
  const { status, said } = await resume(runId, { approved: { [one]: true, [two]: false } })
  expect(status).toBe('completed')
  expect(said).toBe(`one:\none: "yes"\n\ntwo:\ntwo: "'publish' was not approved."`)
})

test('each member gets what its own answer says', async () => {
  const { pause, resume } = await serve(both())
  const { runId, asked } = await pause()
  const [one = '', two = ''] = idsOf(asked)
  const answers = { [one]: { approved: true, input: 5 }, [two]: { approved: false, reason: 'not now' } }
  expect((await resume(runId, { answers })).said).toBe(
    `one:\none: 5\n\ntwo:\ntwo: "'publish' was not approved: not now"`,
  )
})

test('one decision for everything reaches all members', async () => {
  const { pause, resume } = await serve(both())
  const { runId } = await pause()
  expect((await resume(runId, { approved: true, input: 'ok' })).said).toBe('one:\none: "ok"\n\ntwo:\ntwo: "ok"')
})

test('each level of teams puts its own run before the id', async () => {
  const inner = team({ name: 'inner', mode: 'parallel', members: [publisher('one'), publisher('two')] })
  const { pause, resume, children } = await serve(team({ members: [inner] }))
  const { runId, asked } = await pause()
  const [middle] = await children(runId)
  const leaves = await children(middle?.run_id ?? '')
  expect(idsOf(asked).toSorted()).toEqual(
    leaves.map(({ run_id }) => `${middle?.run_id}/${run_id}/publish#1`).toSorted(),
  )
  expect(asked.map(({ child_run_id }) => child_run_id)).toEqual([middle?.run_id, middle?.run_id])
  const [one = '', two = ''] = idsOf(asked)
  const answers = { [one]: { approved: true, input: 1 }, [two]: { approved: true, input: 2 } }
  expect((await resume(runId, { answers })).said).toBe('one:\none: 1\n\ntwo:\ntwo: 2')
})

test('a request without an id is answered by the id of the child run', async () => {
  const asker = (name: string) =>
    runnable(
      async function* (_input, { resumed }) {
        if (resumed === undefined) yield { type: 'input_required', prompt: 'Which?' } as const
        else yield `${name} ${JSON.stringify(resumed.input)}`
      },
      { name },
    )
  const { pause, resume, children } = await serve(team({ mode: 'parallel', members: [asker('one'), asker('two')] }))
  const { runId, asked } = await pause()
  expect(idsOf(asked).toSorted()).toEqual((await children(runId)).map(({ run_id }) => run_id).toSorted())
  expect(asked.map(({ kind }) => kind)).toEqual(['input', 'input'])
  const [one = '', two = ''] = idsOf(asked)
  const { said } = await resume(runId, { answers: { [one]: { input: 'a' }, [two]: { input: 'b' } } })
  expect(said).toBe('one:\none "a"\n\ntwo:\ntwo "b"')
})

test('a lead answers with what its members say, each after its own decision', async () => {
  const calls = [...callTool('ask_one', { task: 'x' }).slice(0, -1), ...callTool('ask_two', { task: 'y' }).slice(1)]
  const model = scripted(calls, answer('Done.'))
  const lead = team({ mode: 'lead', members: [publisher('one'), publisher('two')], model })
  const { pause, resume, eventsOf } = await serve(lead)
  const { runId, asked } = await pause()
  const decisions = Object.fromEntries(
    asked.map(({ call_id, data }) => [call_id, JSON.stringify(data).includes('one')]),
  )
  expect(Object.keys(decisions)).toHaveLength(2)
  expect(await resume(runId, { approved: decisions })).toMatchObject({ status: 'completed', said: 'Done.' })
  const results = (await eventsOf(runId)).filter((event) => event.type === 'tool_result')
  expect(results.map(({ name, output }) => [name, output]).toSorted()).toEqual([
    ['ask_one', 'one: "yes"'],
    ['ask_two', `two: "'publish' was not approved."`],
  ])
})

/** What the version before recorded for the run that contains others: requests with the ids of its members. */
function withoutPrefixes(store: SessionStore): SessionStore {
  const plain = ({ ...event }: RunEvent): RunEvent => {
    if (event.type !== 'input_required' || event.child_run_id === undefined) return event
    const { child_run_id: _child, kind: _kind, call_id = '', ...rest } = event
    const id = call_id.slice(call_id.lastIndexOf('/') + 1)
    return id.startsWith('run_') ? rest : { ...rest, call_id: id }
  }
  return new Proxy(store, {
    get(target, key) {
      const value = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      if (key !== 'finishRun' && key !== 'appendEvents') return value.bind(target)
      return (write: { events: RunEvent[] }) => value.call(target, { ...write, events: write.events.map(plain) })
    },
  })
}

test('a run that an earlier version paused is resumed with the ids of its members', async () => {
  const { pause, resume } = await serve(
    team({ members: [team({ members: [publisher('one')] })] }),
    withoutPrefixes(memoryStore()),
  )
  const { runId, asked } = await pause()
  expect(asked).toHaveLength(1)
  expect(asked[0]).toMatchObject({ call_id: 'publish#1' })
  expect(asked[0]?.child_run_id).toBeUndefined()
  expect((await resume(runId, { approved: { 'publish#1': true }, input: 'ok' })).said).toBe('one: "ok"')
})
