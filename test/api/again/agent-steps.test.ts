import { expect, test } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import { bodiesOf, office, serveAgain, takenOver } from './fixture.ts'

async function opened() {
  const { entity, model, made } = office()
  const server = await serveAgain({ office: entity })
  const content = 'The office opens at nine.\n\nRefunds take five days.'
  await server.call('POST', '/api/v1/knowledge/content', { content, source: 'hours.md' })
  const { json, runId = '' } = await server.ask('office', 'When does the office open? And refunds?')
  expect(json.status).toBe('completed')
  const events = await server.events(runId)
  const asked = model.calls.length
  made.length = 0
  const place = (type: RunEvent['type'], nth = 0) => events.filter((event) => event.type === type)[nth]?.seq ?? 0
  const before = (seq: number) => takenOver(events.filter((event) => event.seq < seq))
  return { server, model, made, events, runId, sessionId: json.session_id as string, asked, place, before, json }
}

test('the record has three model calls, two tool calls and a retrieval', async () => {
  const { server, events, asked } = await opened()
  await using _ = server
  const count = (type: string) => events.filter((event) => event.type === type).length
  expect([count('model_call_start'), count('tool_call'), count('retrieval'), asked]).toEqual([3, 2, 1, 3])
})

test.each([0, 1, 2])('from model call %i: what lies before is the record, and later calls wait', async (nth) => {
  const { server, model, made, events, runId, asked, place, before } = await opened()
  await using _ = server
  const from = place('model_call_start', nth)
  const { status, id } = await server.again(runId, { from })
  expect(status).toBe(202)
  let { events: now, run } = await server.ended(id)
  const known = before(from)
  expect(bodiesOf(now).slice(0, known.length)).toEqual(known)
  expect(model.calls.length).toBe(asked + 1)
  expect(made).toEqual([])
  // The call that is made anew has the prompt that it had.
  const call = now.filter((event) => event.type === 'model_call_start')[nth]
  const then = events.filter((event) => event.type === 'model_call_start')[nth]
  expect(call?.type === 'model_call_start' && call.messages).toEqual(then?.type === 'model_call_start' && then.messages)
  expect(run.again_of).toEqual({ run_id: runId, from, after: 'ask', keep: 'no' })
  for (const name of ['calendar', 'refund'].slice(nth)) {
    expect(run.status).toBe('input_required')
    expect(run.waiting).toMatchObject([{ kind: 'approval', tool: name }])
    await server.resume(id, { approved: true })
    ;({ events: now, run } = await server.ended(id))
  }
  expect(made).toEqual(['calendar mon', 'refund 5'].slice(nth))
  expect(run.status).toBe('completed')
  expect(bodiesOf(now).slice(0, known.length)).toEqual(known)
})

test('from a tool call: the calls before are answered, this one waits, and so do later ones', async () => {
  const { server, model, made, runId, asked, place, before } = await opened()
  await using _ = server
  const from = place('tool_call', 1)
  const { id } = await server.again(runId, { from })
  let { events, run } = await server.ended(id)
  expect(model.calls.length).toBe(asked)
  expect(made).toEqual([])
  expect(run.waiting).toMatchObject([{ kind: 'approval', tool: 'refund', data: { amount: 5 } }])
  const known = before(from)
  expect(bodiesOf(events).slice(0, known.length)).toEqual(known)
  await server.resume(id, { approved: true })
  ;({ events, run } = await server.ended(id))
  expect(made).toEqual(['refund 5'])
  expect(model.calls.length).toBe(asked + 1)
  expect(run.content).toContain('refunded 5')
})

test('a refused call is not made, and the model is told', async () => {
  const { server, made, runId, place } = await opened()
  await using _ = server
  const { id } = await server.again(runId, { from: place('tool_call', 1) })
  await server.ended(id)
  await server.resume(id, { approved: false })
  const { run } = await server.ended(id)
  expect(run.status).toBe('completed')
  expect(made).toEqual([])
})

test('another result of the tool call goes to the model, and nothing is made', async () => {
  const { server, made, runId, place } = await opened()
  await using _ = server
  const { id } = await server.again(runId, { from: place('tool_call', 1), edit: { tool_output: { paid: false } } })
  const { run, events } = await server.ended(id)
  expect(run).toMatchObject({ status: 'completed', content: expect.stringContaining('"paid":false') })
  expect(events.findLast(({ type }) => type === 'tool_result')).toMatchObject({
    output: { paid: false },
    call_id: 'c2',
  })
  expect(made).toEqual([])
})

test('recorded: the record answers the same calls, and a call with another input waits', async () => {
  const { server, made, runId, json } = await opened()
  await using _ = server
  const { id } = await server.again(runId, { after: 'recorded' })
  const { run } = await server.ended(id)
  expect(run).toMatchObject({ status: 'completed', content: json.content })
  expect(made).toEqual([])
})

test('live: the calls are made', async () => {
  const { server, made, runId, place } = await opened()
  await using _ = server
  const { id } = await server.again(runId, { from: place('tool_call', 0), after: 'live' })
  const { run } = await server.ended(id)
  expect(run.status).toBe('completed')
  expect(made).toEqual(['calendar mon', 'refund 5'])
})

test('from the retrieval: the passages of the record without those that are dropped', async () => {
  const { server, events, runId, place } = await opened()
  await using _ = server
  const found = events.find((event) => event.type === 'retrieval')
  const [first] = found?.type === 'retrieval' ? found.results : []
  const edit = { passages: { drop: [first?.chunk_id] } }
  const { id } = await server.again(runId, { from: place('retrieval'), edit, after: 'recorded' })
  const { events: now, run } = await server.ended(id)
  expect(run.status).toBe('completed')
  const retrieval = now.find((event) => event.type === 'retrieval')
  const told =
    retrieval?.type === 'retrieval' ? retrieval.results.filter(({ told }) => told).map((hit) => hit.chunk_id) : []
  expect(told).not.toContain(first?.chunk_id)
  const { id: anew } = await server.again(runId, {
    from: place('retrieval'),
    edit: { passages: { mode: 'keyword', limit: 1 } },
  })
  const searched = (await server.ended(anew)).events.find((event) => event.type === 'retrieval')
  expect(searched).toMatchObject({ mode: 'keyword', limit: 1 })
})

test('instructions, settings and messages change the calls that are made anew', async () => {
  const { server, runId, place } = await opened()
  await using _ = server
  const from = place('model_call_start', 2)
  const edit = { instructions: 'the boss', settings: { temperature: 0.25, stopSequences: ['END'] } }
  const { id } = await server.again(runId, { from, edit })
  const { run, events } = await server.ended(id)
  expect(run.content).toContain('Done by the boss')
  const call = events.findLast((event) => event.type === 'model_call_start')
  expect(call).toMatchObject({ settings: { temperature: 0.25, stopSequences: ['END'] } })
  const messages = [
    { role: 'system', content: 'the owner' },
    { role: 'user', content: [{ type: 'text', text: 'Only this.' }] },
  ]
  const other = await server.again(runId, { from: place('model_call_start', 0), edit: { messages } })
  const first = (await server.ended(other.id)).events.find((event) => event.type === 'model_call_start')
  expect(first).toMatchObject({ messages })
})

test('a try changes nothing of the session, and is listed only on request', async () => {
  const { server, runId, sessionId, place } = await opened()
  await using _ = server
  const whole = async () => ({
    session: (await server.call('GET', `/api/v1/sessions/${sessionId}`)).json,
    history: (await server.call('GET', `/api/v1/sessions/${sessionId}/history`)).json,
    copy: (await server.call('GET', `/api/v1/sessions/${sessionId}/export`)).text.replace(/"exported_at":"[^"]*"/, ''),
    runs: (await server.call('GET', `/api/v1/runs?session_id=${sessionId}`)).json,
  })
  const was = await whole()
  const { runs } = await server.again(runId, { from: place('model_call_start', 1), times: 3 })
  expect(new Set(runs.map(({ run_id }) => run_id)).size).toBe(3)
  for (const { run_id } of runs) await server.ended(run_id)
  for (const { run_id } of runs) await server.resume(run_id, { approved: true })
  expect(await whole()).toEqual(was)
  const listed = (await server.call('GET', `/api/v1/runs?session_id=${sessionId}&again=true`)).json
  expect(listed.runs).toHaveLength(4)
})

test('a try of an earlier turn sees what that turn saw', async () => {
  const { server, runId, sessionId, model } = await opened()
  await using _ = server
  await server.ask('office', 'A later question.', { session_id: sessionId })
  const { id } = await server.again(runId, { after: 'recorded' })
  await server.ended(id)
  expect(JSON.stringify(model.calls.at(-1)?.prompt)).not.toContain('A later question.')
})

test('what the record answers is used once: by the run that made it', async () => {
  const { server, runId, place, sessionId } = await opened()
  await using _ = server
  const used = async () => {
    const { json } = await server.call('GET', '/api/v1/sessions?view=head')
    return json.sessions.find((head: { session_id: string }) => head.session_id === sessionId).usage.total_tokens
  }
  expect(await used()).toBe(60)
  const { id } = await server.again(runId, { from: place('model_call_start', 2), after: 'live', keep: 'replace' })
  const { run } = await server.ended(id)
  expect(run.usage.total_tokens).toBe(20)
  expect(run.usage_by_model).toEqual([expect.not.objectContaining({ unreported_calls: expect.anything() })])
  expect(await used()).toBe(80)
})

test('fork and replace make it a turn', async () => {
  const { server, runId, sessionId, place } = await opened()
  await using _ = server
  const from = place('model_call_start', 2)
  const fork = await server.again(runId, { from, keep: 'fork', edit: { instructions: 'the fork' } })
  const forked = await server.ended(fork.id)
  expect(forked.run).toMatchObject({ status: 'completed', session_id: fork.runs[0]?.session_id })
  expect(forked.run.session_id).not.toBe(sessionId)
  expect(forked.run.content).toContain('the fork')
  const replace = await server.again(runId, { from, keep: 'replace', edit: { instructions: 'the new' } })
  await server.ended(replace.id)
  const history = (await server.call('GET', `/api/v1/sessions/${sessionId}/history`)).json
  expect(history.runs.map((run: { run_id: string }) => run.run_id)).toEqual([replace.id])
  expect((await server.run(runId)).replaced_by).toBe(replace.id)
})

test('a try can be cancelled, and goes with its session', async () => {
  const { server, runId, sessionId } = await opened()
  await using _ = server
  const [one, two] = (await server.again(runId, { times: 2 })).runs.map(({ run_id }) => run_id) as [string, string]
  await Promise.all([server.ended(one), server.ended(two)])
  expect((await server.call('POST', `/api/v1/runs/${one}/cancel`)).json.status).toBe('cancelled')
  expect((await server.call('DELETE', `/api/v1/sessions/${sessionId}`)).status).toBe(200)
  expect((await server.call('GET', `/api/v1/runs/${two}`)).status).toBe(404)
})

test('a retry with the same key starts nothing', async () => {
  const { server, runId } = await opened()
  await using _ = server
  const key = { 'idempotency-key': 'k1' }
  const first = await server.again(runId, { after: 'recorded' }, key)
  const second = await server.again(runId, { after: 'recorded' }, key)
  expect(second.json).toEqual(first.json)
  expect((await server.again(runId, { after: 'live' }, key)).status).toBe(422)
})

test.each([
  [{ from: 100_000 }, 'from'],
  [{ from: 0 }, 'from'],
  [{ times: 6 }, 'times'],
  [{ times: 2, keep: 'replace' }, 'times'],
  [{ edit: { model: 'http://127.0.0.1/v1' } }, 'edit.model'],
  [{ edit: { model: { baseURL: 'http://127.0.0.1' } } }, 'edit.model'],
  [{ edit: { settings: { temperature: 'hot' } } }, 'edit.settings.temperature'],
  [{ edit: { settings: { headers: {} } } }, 'edit.settings'],
  [{ edit: { unknown: 1 } }, 'edit'],
  [{ edit: { tool_output: 1 } }, 'edit.tool_output'],
  [{ edit: { messages: [{ role: 'user', content: 'x' }] } }, 'edit.messages'],
  [{ from: 2, edit: { input: 'x' } }, 'edit.input'],
  [{ after: 'never' }, 'after'],
])('refuses %j', async (body, path) => {
  const { entity } = office()
  await using server = await serveAgain({ office: entity })
  const { runId } = await server.ask('office', 'Hello?')
  const { status, json } = await server.again(runId, body)
  expect(status).toBe(400)
  expect(JSON.stringify(json)).toContain(path)
})
