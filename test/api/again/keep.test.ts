import { expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { startServer } from '../../support/server.ts'
import { office, serveAgain } from './fixture.ts'

const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 }

/** Notes its calls in the session's state. */
function counting() {
  const model = scriptedModel(({ text }) => ({ text: `said ${text}`, usage }))
  const other = agent({ model, instructions: 'short' })
  const note = agent({
    async *run({ text, state }) {
      state.last = text
      yield { type: 'text_delta', text }
    },
  })
  return { model, other, note }
}

async function opened() {
  const clerk = office()
  const { model, other, note } = counting()
  const around = team({ mode: 'sequence', members: ['other'] })
  const server = await serveAgain({ clerk: clerk.entity, other, note, around })
  const keep = (id: string, how: string, headers?: Record<string, string>) =>
    server.call('POST', `/api/v1/runs/${id}/keep`, { keep: how }, headers)
  const history = async (session: string, query = '') =>
    (await server.call('GET', `/api/v1/sessions/${session}/history${query}`)).json.runs
  const shown = async (session: string) => (await history(session)).map(({ run_id }: { run_id: string }) => run_id)
  const say = async (entity: string, input: string, session_id?: string) => {
    const { json } = await server.ask(entity, input, session_id === undefined ? {} : { session_id })
    return json as { run_id: string; session_id: string }
  }
  const tried = async (runId: string, body: object = { after: 'live' }) => {
    const { id } = await server.again(runId, body)
    return { id, ...(await server.ended(id)) }
  }
  return { server, clerk, model, keep, history, shown, say, tried }
}

test('a try takes the place of its turn as it is, and nothing is run', async () => {
  const { server, clerk, keep, history, shown, say, tried } = await opened()
  await using _ = server
  const first = await say('clerk', 'refund')
  const { id, events, run } = await tried(first.run_id, { after: 'live', edit: { instructions: 'another' } })
  const before = [clerk.model.calls.length, clerk.made.length]
  const { status, json } = await keep(id, 'replace')
  expect([status, json]).toEqual([200, { run_id: id, session_id: first.session_id }])
  expect([clerk.model.calls.length, clerk.made.length]).toEqual(before)
  const kept = await server.ended(id)
  expect(kept.events).toEqual(events)
  expect(kept.run).toEqual({ ...run, again_of: { ...run.again_of, keep: 'replace' } })
  expect(await shown(first.session_id)).toEqual([id])
  expect((await history(first.session_id, '?replaced=true'))[0]).toMatchObject({ replaced_by: id })
  const next = await say('clerk', 'and now?', first.session_id)
  expect(await shown(first.session_id)).toEqual([id, next.run_id])
  expect((await server.call('POST', `/api/v1/runs/${first.run_id}/restore`)).status).toBe(200)
  expect(await shown(first.session_id)).toEqual([first.run_id])
  expect((await keep(id, 'replace')).json.error.code).toBe('conflict')
})

test('a try of a team is kept as a session with its members, its usage and its cost', async () => {
  const { server, model, keep, shown, say, tried } = await opened()
  await using _ = server
  const before = await say('other', 'hello')
  const turn = await say('around', 'plan', before.session_id)
  await say('other', 'later', before.session_id)
  const all = await shown(before.session_id)
  const { id, events, run } = await tried(turn.run_id)
  const calls = model.calls.length
  const { status, json } = await keep(id, 'fork')
  expect(status).toBe(200)
  expect(model.calls.length).toBe(calls)
  expect(await shown(before.session_id)).toEqual(all)
  const kept = await server.ended(json.run_id)
  const own = ({ messages, usage_by_model, usage, cost }: typeof run) => [
    messages.map(({ role, content }: { role: string; content: string }) => [role, content]),
    usage_by_model,
    usage,
    cost,
  ]
  expect(own(kept.run)).toEqual(own(run))
  expect(kept.run.again_of).toEqual({ ...run.again_of, keep: 'fork' })
  const types = (list: typeof events) => list.map(({ type, seq, at }) => [type, seq, at])
  expect(types(kept.events)).toEqual(types(events))
  expect(await shown(json.session_id)).toHaveLength(2)
  const inside = await server.call('GET', `/api/v1/runs?parent_run_id=${json.run_id}`)
  expect(inside.json.runs).toMatchObject([{ session_id: json.session_id, again_of: null, status: 'completed' }])
  for (const again of ['keep', 'again'] as const) {
    const gone = again === 'keep' ? await keep(id, 'fork') : await server.again(id)
    expect([gone.status, gone.json.error.code]).toEqual([404, 'run_not_found'])
  }
  const session = (await server.call('GET', `/api/v1/sessions/${json.session_id}`)).json
  expect(session).toMatchObject({ run_count: 2, metadata: { forked_from: { session_id: before.session_id } } })
})

test('the state goes with the try, in both ways', async () => {
  const { server, keep, say, tried } = await opened()
  await using _ = server
  const stateOf = async (id: string) => (await server.call('GET', `/api/v1/sessions/${id}`)).json.state
  const first = await say('note', 'one')
  await say('note', 'two', first.session_id)
  const again = { after: 'live', edit: { input: 'three' } }
  const [one, two] = [await tried(first.run_id, again), await tried(first.run_id, again)]
  expect(await stateOf(first.session_id)).toEqual({ last: 'two' })
  const { json } = await keep(one.id, 'fork')
  expect([await stateOf(json.session_id), await stateOf(first.session_id)]).toEqual([
    { last: 'three' },
    { last: 'two' },
  ])
  expect((await keep(two.id, 'replace')).status).toBe(200)
  expect(await stateOf(first.session_id)).toEqual({ last: 'three' })
})

test('what can not be kept says why, and stays what it is', async () => {
  const { server, keep, say, tried } = await opened()
  await using _ = server
  const first = await say('clerk', 'refund')
  const refused = async (id: string, how = 'replace') => {
    const { status, json } = await keep(id, how)
    return [status, json.error.code, json.error.message]
  }
  for (const how of ['fork', 'replace']) {
    expect(await refused(first.run_id, how)).toEqual([409, 'conflict', expect.stringContaining('a turn')])
    expect((await refused('run_none', how)).slice(0, 2)).toEqual([404, 'run_not_found'])
  }
  const { id: waiting, run } = await tried(first.run_id, {})
  expect(run.status).toBe('input_required')
  expect(await refused(waiting)).toEqual([409, 'conflict', expect.stringContaining('Answer what it waits for')])
  const { id } = await tried(first.run_id)
  const { id: ofTry } = await tried(id)
  const { id: late } = await tried(first.run_id)
  expect((await keep(id, 'fork')).status).toBe(200)
  expect(await refused(ofTry)).toEqual([409, 'conflict', expect.stringContaining(`'${id}', is gone`)])
  const { json } = await server.ask('clerk', 'again', { session_id: first.session_id, replaces: first.run_id })
  expect(await refused(late)).toEqual([409, 'conflict', expect.stringContaining(json.run_id)])
  for (const body of [{}, { keep: 'no' }, { keep: 1 }, [], { keep: 'fork', more: 1 }]) {
    const answer = await server.call('POST', `/api/v1/runs/${late}/keep`, body)
    expect([body, answer.status]).toEqual([body, 400])
  }
  expect((await server.run(late)).again_of.keep).toBe('no')
  expect((await keep(late, 'fork')).status).toBe(200)
})

test('a try that still runs is refused, in both ways', async () => {
  const { promise: opening, resolve: open } = Promise.withResolvers<void>()
  let isFirst = true
  const slow = agent({
    async *run() {
      if (!isFirst) await opening
      isFirst = false
      yield { type: 'text_delta', text: 'done' }
    },
  })
  const server = await serveAgain({ slow })
  await using _ = server
  const { runId } = await server.ask('slow', 'x')
  const { id } = await server.again(runId, { after: 'live' })
  for (const how of ['fork', 'replace']) {
    const { status, json } = await server.call('POST', `/api/v1/runs/${id}/keep`, { keep: how })
    expect([status, json.error.message]).toEqual([409, expect.stringContaining('has not ended: running')])
  }
  open()
  await server.ended(id)
  expect((await server.call('POST', `/api/v1/runs/${id}/keep`, { keep: 'replace' })).status).toBe(200)
})

test('two that keep it at once keep it once, and a retry gets the first answer', async () => {
  const { server, keep, say, tried } = await opened()
  await using _ = server
  const first = await say('other', 'x')
  for (const how of ['fork', 'replace']) {
    const { id } = await tried(first.run_id)
    const both = await Promise.all([keep(id, how), keep(id, how)])
    const [one, other] = both.map(({ status }) => status).sort()
    // The second may find that a try is not there any more.
    expect([one, how === 'fork' ? [404, 409] : [409]]).toEqual([200, expect.arrayContaining([other])])
  }
  expect((await server.call('GET', '/api/v1/sessions')).json.count).toBe(2)
  const second = await say('other', 'y')
  const { id } = await tried(second.run_id)
  const key = { 'idempotency-key': 'once' }
  const [one, two] = [await keep(id, 'fork', key), await keep(id, 'replace', key)]
  const three = await keep(id, 'fork', key)
  expect([one.status, two.status, three.status, three.json]).toEqual([200, 422, 200, one.json])
})

test('facts are written neither by the try nor when it is kept', async () => {
  const own = agent({
    memory: { user: true },
    async run({ user, text }) {
      await user.remember(text)
      return 'noted'
    },
  })
  const server = await serveAgain({ own })
  await using _ = server
  const { runId } = await server.ask('own', 'Likes tea.', { user_id: 'ann' })
  const { id } = await server.again(runId, { after: 'live', edit: { input: 'Likes jam.' } })
  await server.ended(id)
  await server.call('POST', `/api/v1/runs/${id}/keep`, { keep: 'fork' })
  const { json } = await server.call('GET', '/api/v1/users/ann/facts')
  expect(json.facts.map(({ content }: { content: string }) => content)).toEqual(['Likes tea.'])
})

test('a key keeps what its user may change, and needs the scope of runs', async () => {
  const keys = [
    'the-key-of-operator',
    { key: 'the-key-of-ann', userId: 'ann' },
    { key: 'the-key-of-bob', userId: 'bob' },
    { key: 'the-key-of-reader', scopes: ['sessions'] },
  ] as const
  const { other } = counting()
  const server = await startServer({ auth: { keys: [...keys] }, studio: { again: true } } as never, { other })
  const as = (who: string, method: string, path: string, body?: object) =>
    server.call(method, `/api/v1${path}`, body, { authorization: `Bearer the-key-of-${who}` })
  const { json } = await as('ann', 'POST', '/agents/other/run', { input: 'x' })
  const { json: started } = await as('operator', 'POST', `/runs/${json.run_id}/again`, { after: 'live' })
  const id = started.runs[0].run_id
  await as('operator', 'GET', `/runs/${id}/events`)
  const keep = async (who: string, how = 'replace') => {
    const answer = await as(who, 'POST', `/runs/${id}/keep`, { keep: how })
    return [answer.status, answer.json.error?.code]
  }
  for (const how of ['fork', 'replace']) {
    expect(await keep('bob', how)).toEqual([404, 'run_not_found'])
    expect(await keep('reader', how)).toEqual([403, 'forbidden'])
  }
  expect(await keep('ann', 'fork')).toEqual([200, undefined])
  const sessions = (await as('ann', 'GET', '/sessions')).json.sessions
  expect(sessions.map(({ user_id }: { user_id: string }) => user_id)).toEqual(['ann', 'ann'])
  await server.close()
})
