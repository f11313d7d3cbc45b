import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../../src/runnables/agent/agent.ts'
import { tool } from '../../../../src/runnables/tools/tool.ts'
import { workflow } from '../../../../src/runnables/workflow/workflow.ts'
import { scriptedModel } from '../../../../src/testing/scripted-model.ts'
import { type Any, assistant, chunksOf, openCompletions, user } from './support.ts'

const tools = ['pick', 'look'].map((name) => ({
  type: 'function',
  function: { name, description: name, parameters: { type: 'object', properties: { of: { type: 'number' } } } },
}))

describe('client tools', () => {
  /** Calls both tools at once, then tells what they gave. */
  const chooser = () => {
    const model = scriptedModel(({ prompt }) => {
      if (prompt.at(-1)?.role === 'tool') return 'You chose.'
      const calls = ['pick', 'look'].map((name) => ({ name, input: { of: 2 } }))
      return prompt.at(-1)?.role === 'user' && !JSON.stringify(prompt.at(-1)).includes('again')
        ? { text: 'Let me see.', tool_calls: calls }
        : 'Again.'
    })
    return { model, entity: agent({ model }) }
  }

  async function asked(more: object = {}, headers?: Record<string, string>) {
    const { entity, model } = chooser()
    const server = await openCompletions({ docs: entity })
    const body = { model: 'docs', messages: [user('choose')], tools, ...more }
    const first = await server.complete(body, headers)
    const [{ message, finish_reason }] = first.body.choices
    const outcome = (place: number, content: unknown) => ({
      role: 'tool',
      tool_call_id: message.tool_calls[place].id,
      content,
    })
    const answer = (...messages: object[]) => ({ ...body, messages: [...body.messages, message, ...messages] })
    return { server, model, first, message, finish_reason, outcome, answer, body }
  }

  test('are called by the answer, and their outcomes resume the run', async () => {
    const { server, model, first, message, finish_reason, outcome, answer } = await asked({ user: 'ann' })
    expect([finish_reason, message.content]).toEqual(['tool_calls', 'Let me see.'])
    const runId = first.headers['x-run-id'] as string
    expect(message.tool_calls).toEqual(
      ['pick', 'look'].map((name) => ({
        id: expect.stringMatching(new RegExp(`^call_${runId.slice(4)}_`)),
        type: 'function',
        function: { name, arguments: '{"of":2}' },
      })),
    )
    const body = answer(outcome(1, [{ type: 'text', text: 'a cat' }]), outcome(0, 'the red one'))
    const second = await server.complete(body)
    expect([second.status, second.content, second.headers['x-run-id']]).toEqual([200, 'You chose.', runId])
    expect(second.body.id).not.toBe(first.body.id)
    expect(JSON.stringify(model.calls.at(-1)?.prompt)).toMatch(/the red one.*a cat/)
    // The answer of a stretch is the same when it is asked for again, as JSON and as a stream.
    expect((await server.complete(body)).body).toEqual(second.body)
    const { chunks } = await server.stream(body)
    expect(chunks.map(({ id }) => id)).toContain(second.body.id)
    expect(chunks.map(({ choices }) => choices[0].delta.content ?? '').join('')).toBe('You chose.')
    // And the conversation goes on in its session.
    const next = await server.complete({
      ...body,
      messages: [...body.messages, assistant('You chose.'), user('again')],
    })
    expect(next.headers['x-session-id']).toBe(first.headers['x-session-id'])
  })

  test('are streamed whole, one chunk each', async () => {
    const { entity } = chooser()
    const { stream } = await openCompletions({ docs: entity })
    const { chunks } = await stream({ model: 'docs', messages: [user('choose')], tools })
    const calls = chunks.flatMap(({ choices }) => choices[0].delta.tool_calls ?? [])
    expect(calls.map(({ index, function: { name } }: Any) => [index, name])).toEqual([
      [0, 'pick'],
      [1, 'look'],
    ])
    expect(chunks.at(-1).choices[0].finish_reason).toBe('tool_calls')
  })

  test('are told which outcomes are missing, and which are none of theirs', async () => {
    const { server, message, outcome, answer } = await asked()
    const missing = await server.complete(answer(outcome(0, 'red')))
    expect([missing.status, missing.body.error.param]).toEqual([400, 'messages'])
    expect(missing.body.error.message).toContain(message.tool_calls[1].id)
    const foreign = { ...outcome(1, 'x'), tool_call_id: 'call_made_up' }
    const mixed = await server.complete(answer(outcome(0, 'red'), foreign))
    expect([mixed.status, mixed.body.error.message]).toEqual([400, expect.stringContaining('call_made_up')])
    expect((await server.complete(answer(outcome(0, 'red'), outcome(1, 'cat')))).content).toBe('You chose.')
    const other = await server.complete(answer(outcome(0, 'blue'), outcome(1, 'cat')))
    expect([other.status, other.body.error.code, other.headers['x-should-retry']]).toEqual([409, 'conflict', 'false'])
  })

  test('are not answered by another person, for another model, or in another session', async () => {
    const { server, first, outcome, answer } = await asked({ user: 'ann' })
    const body = answer(outcome(0, 'red'), outcome(1, 'cat'))
    const runId = first.headers['x-run-id']
    const others = [
      await server.complete({ ...body, user: 'bob' }),
      await server.complete({ ...body, user: undefined }),
      await server.complete({ ...body, model: 'echo' }),
      await server.complete(body, { 'x-session-id': 'elsewhere' }),
    ]
    for (const { status, headers } of others) {
      expect(status).toBe(200)
      expect(headers['x-run-id']).not.toBe(runId)
    }
    expect((await server.get(`/runs/${runId}`)).status).toBe('input_required')
    expect((await server.complete(body)).headers['x-run-id']).toBe(runId)
  })

  test('of another kind are left out, and ignored by what has no model', async () => {
    const { complete } = await openCompletions()
    const { status, headers } = await complete({
      model: 'echo',
      messages: [user('x')],
      tools: [{ type: 'web_search' }],
    })
    expect([status, headers['x-agentserve-ignored']]).toEqual([200, 'tools'])
  })

  test.each([
    [[tools[0], tools[0]], 'tools'],
    [[{ type: 'function', function: { name: 'no name!' } }], 'tools'],
    [[{ type: 'function', function: { name: 'a', parameters: { type: 'x' } } }], 'tools'],
  ])('that no model can be offered are refused: %#', async (given, param) => {
    const { server } = await asked()
    const { status, body } = await server.complete({ model: 'docs', messages: [user('x')], tools: given })
    expect([status, body.error.param]).toEqual([400, param])
  })
})

describe('approvals', () => {
  const pay = tool({
    inputSchema: z.object({ euros: z.number() }),
    needsApproval: true,
    execute: ({ euros }) => ({ paid: euros }),
  })
  const cashier = () => {
    const model = scriptedModel(({ prompt, text }) => {
      const last = JSON.stringify(prompt.at(-1))
      if (last.includes('tool-result')) return `Done: ${last.includes('Too much') ? 'too much' : 'paid'}.`
      return text === 'pay' ? { tool_calls: [{ name: 'pay', input: { euros: 5 } }] } : `You said ${text}.`
    })
    return agent({ model, tools: { pay } })
  }
  const ask = `Allow the tool 'pay' to run? {"euros":5} Reply 'approve' or 'deny'.`
  async function asked(headers: Record<string, string> = { 'x-session-id': 'till' }, more: object = {}) {
    const server = await openCompletions({ cashier: cashier() })
    const first = await server.complete({ model: 'cashier', messages: [user('pay')], ...more }, headers)
    const say = (text: string, sent = headers, other: object = more) =>
      server.complete(
        { model: 'cashier', messages: [user('pay'), assistant(first.content), user(text)], ...other },
        sent,
      )
    return { server, first, say }
  }

  test('are asked for as text, and given with a word in a named session', async () => {
    const { first, say } = await asked()
    expect([first.content, first.body.choices[0].finish_reason]).toEqual([ask, 'stop'])
    const second = await say(' approve\n')
    expect([second.content, second.headers['x-run-id']]).toEqual(['Done: paid.', first.headers['x-run-id']])
    expect((await say('approve')).content).toBe('You said approve.')
  })

  test('are refused with a reason', async () => {
    const { server, first, say } = await asked()
    const second = await say('deny  Too much.')
    expect(second.headers['x-run-id']).toBe(first.headers['x-run-id'])
    const { events } = await server.get(`/sessions/till/history?stream_events=true`)
    const answers = JSON.stringify(events ?? (await server.get(`/sessions/till/history?stream_events=true`)))
    expect(answers).toContain('"approved":false')
    expect(answers).toContain('Too much.')
  })

  test.each(['yes', 'approved', 'Approve', 'approve it', 'denying', ''])(
    'are not given by %j, which is a message',
    async (text) => {
      const { server, first, say } = await asked()
      const answer = await say(text)
      if (text === '') expect(answer.status).toBe(400)
      else expect(answer.headers['x-run-id']).not.toBe(first.headers['x-run-id'])
      expect((await server.get(`/runs/${first.headers['x-run-id']}`)).status).toBe('input_required')
    },
  )

  test('are not given without a name of the session, by another person or in another session', async () => {
    const { server, first, say } = await asked({ 'x-session-id': 'till' }, { user: 'ann' })
    await say('approve', {})
    await say('approve', { 'x-session-id': 'till' }, { user: 'bob' })
    await say('approve', { 'x-session-id': 'other' })
    expect((await server.get(`/runs/${first.headers['x-run-id']}`)).status).toBe('input_required')
    expect((await say('approve')).content).toBe('Done: paid.')
  })

  test('that a client sends again after its connection broke follow the run', async () => {
    const { first, say } = await asked()
    const attempt = (count: number) => ({ 'x-session-id': 'till', 'x-stainless-retry-count': String(count) })
    const second = await say('approve', attempt(0))
    const again = await say('approve', attempt(1))
    expect(again.headers['x-run-id']).toBe(first.headers['x-run-id'])
    expect(again.body).toEqual(second.body)
  })

  test('that look the same and are sent again follow the run that was decided about last', async () => {
    const publish = workflow({ run: async ({ approve }) => (await approve('publish', { page: 1 })) ?? 'published' })
    const server = await openCompletions({ publish })
    const say = (text: string, count: number) =>
      server.complete(
        { model: 'publish', messages: [user(text)] },
        { 'x-session-id': 'w', 'x-stainless-retry-count': String(count) },
      )
    for (const _turn of [1, 2]) {
      const asked = await say('go', 0)
      const decided = await say('approve', 0)
      expect(decided.headers['x-run-id']).toBe(asked.headers['x-run-id'])
      expect((await say('approve', 1)).headers['x-run-id']).toBe(asked.headers['x-run-id'])
    }
  })

  test('that are sent again never answer the question after theirs', async () => {
    const acts: string[] = []
    const two = workflow({
      run: async ({ approve, step }) => {
        for (const name of ['first', 'second']) {
          await approve(name)
          await step(`do-${name}`, async () => void acts.push(name))
        }
        return 'done'
      },
    })
    const server = await openCompletions({ two })
    const say = (text: string, count: number) =>
      server.complete(
        { model: 'two', messages: [user(text)] },
        { 'x-session-id': 'w', 'x-stainless-retry-count': String(count) },
      )
    expect((await say('go', 0)).content).toContain("Approve 'first'?")
    const second = await say('approve', 0)
    expect(second.content).toContain("Approve 'second'?")
    const again = await say('approve', 1)
    expect([again.status, again.body]).toEqual([200, second.body])
    expect(acts).toEqual(['first'])
    expect((await server.get(`/runs/${second.headers['x-run-id']}`)).status).toBe('input_required')
  })

  test('of a workflow are given too, and what else waits says where it is answered', async () => {
    const publish = workflow({ run: async ({ approve }) => (await approve('publish', { page: 1 })) ?? 'published' })
    const server = await openCompletions({ publish })
    const body = (text: string) => ({ model: 'publish', messages: [user(text)] })
    const first = await server.complete(body('go'), { 'x-session-id': 'w' })
    expect(first.content).toContain('Approve \'publish\'? {"page":1}')
    const stream = await server.stream(body('approve'), { 'x-session-id': 'w' })
    expect(stream.headers['x-run-id']).toBe(first.headers['x-run-id'])
    expect(chunksOf(stream.text).at(-1).choices[0].finish_reason).toBe('stop')
    const unnamed = await server.complete(body('go'))
    expect(unnamed.content).toMatch(/Approve 'publish'\?.*POST \/runs\/run_.*\/resume/)
  })
})
