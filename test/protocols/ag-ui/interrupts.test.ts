import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { type AgUiServer, type Any, input, openAgUi, user } from './support.ts'

const pay = tool({
  inputSchema: z.object({ euros: z.number() }),
  needsApproval: true,
  execute: ({ euros }) => ({ paid: euros }),
})
const twice = { tool_calls: [1, 2].map((euros) => ({ name: 'pay', input: { euros } })) }
const cashier = () => agent({ tools: { pay }, model: scriptedModel(twice, 'Settled.') })
/** Asks again after each answer. */
const strict = () => {
  const once = (euros: number) => ({ tool_calls: [{ name: 'pay', input: { euros } }] })
  return agent({ tools: { pay }, model: scriptedModel(once(1), once(2), 'Settled.') })
}
const asks = workflow({ run: async ({ approve }) => (await approve('publish', { page: 1 })) ?? 'published' })
const form = agent({
  *run({ resumed }) {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    if (resumed === undefined) yield { type: 'input_required', call_id: 'where', prompt: 'Where?', schema } as const
    else yield `It is ${JSON.stringify(resumed.answers?.where?.input ?? resumed.input)}.`
  },
})

const asked = [user('u1', 'pay them')]
const approves = (ids: readonly string[], ...approved: boolean[]) =>
  ids.map((interruptId, at) => ({ interruptId, status: 'resolved', payload: { approved: approved[at] ?? true } }))
const idsIn = (end: Any): string[] => end.outcome.interrupts.map(({ id }: Any) => id)
const typesOf = (events: readonly Any[]) => events.map(({ type }) => type)

async function paused(entity: Any = cashier()) {
  const server = await openAgUi({ cashier: entity })
  const { events, headers } = await server.post('cashier', input('t1', 'r1', asked))
  const end = events.at(-1)
  const resume = (runId: string, entries: object[], messages: unknown[] = asked) =>
    server.post('cashier', input('t1', runId, messages, { resume: entries }))
  return { server, end, ids: idsIn(end), resume, runId: headers['x-run-id'] ?? '' }
}

describe('interrupts', () => {
  test('are answered one by one, and the answer that comes twice is the same stream', async () => {
    const { server, ids, resume, runId } = await paused()
    expect(ids).toHaveLength(2)
    const entries = approves(ids, true, false)
    const [one, two] = await Promise.all([resume('r2', entries), resume('r2', entries)])
    expect(typesOf(one.events)).toEqual([
      ...['RUN_STARTED', 'CUSTOM', 'TOOL_CALL_RESULT', 'TOOL_CALL_RESULT'],
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'RUN_FINISHED'],
    ])
    expect(one.events[0]).toMatchObject({ threadId: 't1', runId: 'r2' })
    expect(one.headers['x-run-id']).toBe(runId)
    expect(two.text).toBe(one.text)
    expect((await resume('r2', entries)).text).toBe(one.text)
    expect((await resume('r9', entries)).events.at(-1)).toMatchObject({ runId: 'r9', outcome: { type: 'success' } })
    const other = await resume('r3', approves(ids, true, true))
    expect([other.status, other.events.at(-1)]).toMatchObject([200, { type: 'RUN_ERROR', code: 'interrupt_mismatch' }])
    const { messages } = await server.thread('cashier', 't1')
    const outcomes = messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []))
    expect(outcomes.sort()).toEqual(['Error: The call was not approved.', '{"paid":1}'])
  })

  test('of the first stretch come again with its name, also when they have been answered', async () => {
    const { server, end, ids, resume } = await paused()
    const again = () => server.post('cashier', input('t1', 'r1', asked))
    expect((await again()).events.at(-1)).toEqual(end)
    await resume('r2', approves(ids))
    expect((await again()).events.at(-1)).toEqual(end)
  })

  test('are cancelled as not approved, and a reason is told', async () => {
    const { server, ids, resume, runId } = await paused()
    const [first, second] = ids as [string, string]
    await resume('r2', [
      { interruptId: first, status: 'cancelled' },
      { interruptId: second, status: 'resolved', payload: { approved: false, reason: 'Too much.' } },
    ])
    const { body } = await server.call('GET', `/runs/${runId}/events`, undefined, { accept: 'text/event-stream' })
    expect(body).toContain('"approved":false,"reason":"Too much."')
    expect((await server.call('GET', `/runs/${runId}`)).body.status).toBe('completed')
  })

  test.each<[string, (ids: string[]) => object[], RegExp]>([
    ['one that is missing', (ids) => approves(ids.slice(1)), /resume has no answer to 'run_/],
    ['one that nobody asked for', (ids) => [...approves(ids), ...approves(['run_x/y'])], /not among/],
    ['only such', () => approves(['made-up']), /Nothing in this thread waits/],
    [
      'an answer of another form',
      (ids) => ids.map((interruptId) => ({ interruptId, status: 'resolved', payload: 'yes' })),
      /approved/,
    ],
  ])('leave the thread as it is with %s', async (_what, entriesOf, message) => {
    const { server, end, ids, resume } = await paused()
    const { status, events } = await resume('r2', entriesOf(ids))
    expect([status, events]).toEqual([
      200,
      [
        { type: 'RUN_STARTED', threadId: 't1', runId: 'r2', protocolVersion: '1.0' },
        { type: 'RUN_ERROR', message: expect.stringMatching(message), code: 'interrupt_mismatch' },
      ],
    ])
    expect((await server.thread('cashier', 't1')).end?.outcome).toEqual(end?.outcome)
  })

  test('that wait are told to who sends something else, and nothing of it is lost', async () => {
    const { server, ids, resume } = await paused()
    const { events } = await server.post('cashier', input('t1', 'r2', [...asked, user('u2', 'And?')]))
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'interrupt_pending' })
    const both = await resume('r3', approves(ids), [...asked, user('u2', 'And?')])
    expect(both.events.at(-1)).toMatchObject({ code: 'interrupt_mismatch', message: expect.stringContaining("'u2'") })
    await resume('r4', approves(ids))
    expect((await server.thread('cashier', 't1')).messages.filter(({ role }) => role === 'user')).toHaveLength(1)
  })

  test('of a second question are not answered by what answered the first', async () => {
    const { ids, resume, end } = await paused(strict())
    const second = await resume('r2', approves(ids))
    const next = idsIn(second.events.at(-1))
    expect(next).not.toEqual(ids)
    expect(end?.outcome.interrupts).toHaveLength(1)
    expect((await resume('r2', approves(ids))).text).toBe(second.text)
    const last = await resume('r3', approves(next))
    expect(last.events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
    // Each stretch is there still.
    expect((await resume('r2', approves(ids))).text).toBe(second.text)
  })

  test('of a workflow are a confirmation without a call', async () => {
    const { end, ids, resume } = await paused(asks)
    expect(end?.outcome.interrupts[0]).toMatchObject({ reason: 'confirmation', metadata: { data: { page: 1 } } })
    expect((await resume('r2', approves(ids))).text).toContain('published')
  })

  test('with a form take what fits it, and end the run when they are given up', async () => {
    const { server, end, ids, resume, runId } = await paused(form)
    const [interruptId] = ids
    expect(end?.outcome.interrupts[0]).toMatchObject({
      reason: 'input_required',
      responseSchema: { required: ['city'] },
    })
    const answer = (payload: unknown) => resume('r2', [{ interruptId, status: 'resolved', payload }])
    expect((await answer({ town: 1 })).events.at(-1)).toMatchObject({ code: 'interrupt_mismatch' })
    expect((await answer(undefined)).events.at(-1)).toMatchObject({ message: expect.stringContaining('payload') })
    expect((await answer({ city: 'Ghent' })).text).toContain('Ghent')
    const other = await server.post('cashier', input('t2', 'r1', asked))
    const given = [{ interruptId: idsIn(other.events.at(-1))[0], status: 'cancelled' }]
    const giveUp = () => server.post('cashier', input('t2', 'r2', asked, { resume: given }))
    for (const { events } of [await giveUp(), await giveUp()]) {
      expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
    }
    expect((await server.call('GET', `/runs/${runId}`)).body.status).toBe('completed')
    expect((await server.call('GET', `/runs/${other.headers['x-run-id']}`)).body.status).toBe('cancelled')
    const next = await server.post('echo', input('t2', 'r3', [user('u9', 'well')]))
    expect(next.events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
  })

  test('of another thread are none of this one', async () => {
    const { server, ids } = await paused()
    await server.post('echo', input('t2', 'r1', [user('u1', 'hi')]))
    const { events } = await server.post('cashier', input('t2', 'r2', asked, { resume: approves(ids) }))
    expect(events.at(-1)).toMatchObject({ code: 'interrupt_mismatch' })
  })
})

describe('tools of the client', () => {
  const pick = { name: 'pick', description: 'Picks.', parameters: { type: 'object', properties: {} } }
  const picker = () =>
    agent({
      model: scriptedModel(({ prompt }) => {
        const last = prompt.at(-1)
        if (last?.role === 'tool') return `Picked: ${JSON.stringify(last.content)}`
        return { tool_calls: ['red', 'blue'].map((color) => ({ name: 'pick', input: { color } })) }
      }),
    })
  const post = (server: AgUiServer, runId: string, messages: unknown[]) =>
    server.post('picker', input('t1', runId, messages, { tools: [pick] }))
  const outcome = (toolCallId: string, content: unknown, more: object = {}) => ({
    id: `of-${toolCallId}`,
    role: 'tool',
    toolCallId,
    content,
    ...more,
  })

  async function called() {
    const server = await openAgUi({ picker: picker() })
    const { events } = await post(server, 'r1', [user('u1', 'choose')])
    const calls = events.at(-1)?.outcome.pendingToolCallIds as [string, string]
    const message = { id: events.find(({ type }) => type === 'TOOL_CALL_START')?.parentMessageId, role: 'assistant' }
    return { server, calls, said: [user('u1', 'choose'), message] as unknown[], events }
  }

  test('are called, and their outcomes continue the run, once', async () => {
    const { server, calls, said, events } = await called()
    expect(calls).toHaveLength(2)
    expect(typesOf(events).filter((type) => type.startsWith('TOOL'))).toHaveLength(6)
    const [red, blue] = calls
    const messages = [...said, outcome(red, 'rouge'), outcome(blue, '', { error: 'No blue.' })]
    const [one, two] = await Promise.all([post(server, 'r2', messages), post(server, 'r2', messages)])
    expect(typesOf(one.events)).not.toContain('TOOL_CALL_RESULT')
    for (const text of ['rouge', 'blue.']) expect(one.text).toContain(text)
    expect(two.text).toBe(one.text)
    expect((await post(server, 'r2', messages)).text).toBe(one.text)
    const thread = await server.thread('picker', 't1')
    expect(thread.messages.map(({ role, content }) => [role, role === 'tool' ? content : ''])).toEqual([
      ['user', ''],
      ['assistant', ''],
      ['tool', 'rouge'],
      ['tool', expect.stringContaining('No blue.')],
      ['assistant', ''],
    ])
  })

  test('have ids that their outcomes bring back, whatever the model calls them', async () => {
    const names = ['call#7', 'call', 'call#7#8', '#0']
    const odd = agent({
      async *run({ resumed }) {
        if (resumed !== undefined) yield JSON.stringify(names.map((name) => resumed.answers?.[name]?.output))
        for (const call_id of resumed === undefined ? names : [])
          yield { type: 'input_required', kind: 'tool', call_id, tool: 'pick', data: {}, prompt: 'Pick.' } as const
      },
    })
    const server = await openAgUi({ odd })
    const begun = await server.post('odd', input('t1', 'r1', [user('u1', 'choose')]))
    const calls: string[] = begun.events.at(-1)?.outcome.pendingToolCallIds
    expect(new Set(calls).size).toBe(names.length)
    const outcomes = calls.map((id, place) => outcome(id, names[place]))
    const message = {
      id: begun.events.find(({ type }) => type === 'TOOL_CALL_START')?.parentMessageId,
      role: 'assistant',
    }
    const { events } = await server.post('odd', input('t1', 'r2', [user('u1', 'choose'), message, ...outcomes]))
    const text = events.flatMap(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? [delta] : [])).join('')
    expect(JSON.parse(text)).toEqual(names)
  })

  test('need all outcomes, and no others', async () => {
    const { server, calls, said } = await called()
    const part = await post(server, 'r2', [...said, outcome(calls[0], 'rouge')])
    expect(part.events.at(-1)).toMatchObject({ code: 'interrupt_mismatch', message: expect.stringContaining("'pick'") })
    const other = await post(server, 'r3', [...said, outcome('made-up', 'rouge')])
    expect(other.events.at(-1)).toMatchObject({ code: 'interrupt_mismatch' })
    const { end } = await server.thread('picker', 't1', '?protocolVersion=1.0')
    expect(end?.outcome).toEqual({ type: 'success', pendingToolCallIds: calls })
    expect((await server.thread('picker', 't1')).end?.outcome).toEqual({ type: 'success' })
  })

  test('may be left alone: the next message is answered', async () => {
    const { server, said } = await called()
    const { events } = await server.post('echo', input('t1', 'r2', [...said, user('u2', 'never mind')]))
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
  })

  test('of a name that the agent has itself are refused', async () => {
    const server = await openAgUi({ cashier: cashier() })
    const { status, body } = await server.post(
      'cashier',
      input('t1', 'r1', asked, { tools: [{ ...pick, name: 'pay' }] }),
    )
    expect([status, body.error.details[0].path]).toEqual([400, expect.stringMatching(/^tools\b/)])
  })
})
