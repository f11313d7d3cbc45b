import { expect, test } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { office, serveAgain } from './fixture.ts'

/** What so many calls of the scripted model use. */
const of = (calls: number) => ({ input_tokens: calls * 10, output_tokens: calls * 10, total_tokens: calls * 20 })

async function opened(asked = 'office') {
  const { entity } = office()
  const two = workflow({
    run: async ({ ask, text }) => [(await ask('office', text)).text, (await ask('office', `${text} then`)).text].join(),
  })
  const pair = team({ members: ['office', 'other'] })
  const server = await serveAgain({ office: entity, other: office().entity, two, pair })
  const { json, runId = '' } = await server.ask(asked, 'When?')
  const events = await server.events(runId)
  const place = (type: RunEvent['type'], nth: number) => events.filter((event) => event.type === type)[nth]?.seq ?? 0
  const sessionId: string = json.session_id
  const sumOf = async (id = sessionId) => {
    const { sessions } = (await server.call('GET', '/api/v1/sessions?view=head')).json
    return sessions.find(({ session_id }: { session_id: string }) => session_id === id)?.usage
  }
  return { server, runId, sessionId, events, place, sumOf, json }
}

test('of three calls, the run from the third has used one', async () => {
  const { server, runId, place, json } = await opened()
  await using _ = server
  expect(json.usage).toEqual(of(3))
  const { id } = await server.again(runId, { from: place('model_call_start', 2) })
  const { run, events: now } = await server.ended(id)
  expect(run).toMatchObject({
    status: 'completed',
    usage: of(1),
    usage_by_model: [{ model: 'scripted/scripted', ...of(1) }],
  })
  expect(now.at(-1)).toMatchObject({ type: 'run_end', usage: of(1) })
})

test('from a tool call, and through pauses, each call counts once', async () => {
  const { server, runId, place } = await opened()
  await using _ = server
  const { id } = await server.again(runId, { from: place('tool_call', 0) })
  expect((await server.ended(id)).run).toMatchObject({ status: 'input_required', usage: null })
  await server.resume(id, { approved: true })
  expect((await server.ended(id)).run).toMatchObject({ status: 'input_required', usage: of(1) })
  await server.resume(id, { approved: true })
  expect((await server.ended(id)).run).toMatchObject({ status: 'completed', usage: of(2) })
})

test('a try of a try counts what it used itself', async () => {
  const { server, runId, place } = await opened()
  await using _ = server
  const { id } = await server.again(runId, { from: place('model_call_start', 1), after: 'recorded' })
  const { events } = await server.ended(id)
  const last = events.findLast(({ type }) => type === 'model_call_start')?.seq
  const second = await server.again(id, { from: last })
  expect((await server.ended(second.id)).run).toMatchObject({ status: 'completed', usage: of(1) })
})

test('from the beginning, all calls count', async () => {
  const { server, runId } = await opened()
  await using _ = server
  const { id } = await server.again(runId, { after: 'recorded' })
  expect((await server.ended(id)).run).toMatchObject({ status: 'completed', usage: of(3) })
})

test('the sums of sessions have what was used, of forks and turns in place of others, and nothing of tries', async () => {
  const { server, runId, sessionId, place, sumOf } = await opened()
  await using _ = server
  const from = place('model_call_start', 2)
  const fork = await server.again(runId, { from, keep: 'fork' })
  await server.ended(fork.id)
  expect(await sumOf(fork.runs[0]?.session_id)).toEqual(of(1))
  await server.ended((await server.again(runId, { from })).id)
  expect(await sumOf()).toEqual(of(3))
  await server.ended((await server.again(runId, { from, keep: 'replace' })).id)
  expect(await sumOf(sessionId)).toEqual(of(4))
})

test.each(['two', 'pair'])('%s: the runs inside that the record has are not counted', async (id) => {
  const { server, runId, place, json } = await opened(id)
  await using _ = server
  expect(json.usage).toEqual(of(6))
  const again = await server.again(runId, { from: place('step_start', 1), after: 'recorded' })
  expect((await server.ended(again.id)).run).toMatchObject({ status: 'completed', usage: of(3) })
})
