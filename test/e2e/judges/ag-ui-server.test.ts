import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Agent, openAgent, outlineOf, type Version, versions } from '../../judges/ag-ui.ts'
import { type JudgedServer, newName, startJudged } from './judged-server.ts'

/* The published clients of AG-UI against the running program. */

let judged: JudgedServer

beforeAll(async () => {
  judged = await startJudged()
})
afterAll(() => judged?.close())

/** What a client drops or can't place it says on the console. */
beforeEach(() => {
  const said = (['warn', 'error'] as const).map((method) => vi.spyOn(console, method))
  return () => {
    expect(said.flatMap(({ mock }) => mock.calls)).toEqual([])
    for (const one of said) one.mockRestore()
  }
})

const open = (version: Version, agent: string, more: object = {}) =>
  openAgent(version, { url: `${judged.url}/api/v1/ag-ui/${agent}`, threadId: newName('thread'), ...more })
const typesOf = ({ events }: Agent) => events.map(({ type }) => type)

/** Another page on the same thread has the same messages. */
async function expectSaved(version: Version, agent: Agent): Promise<Agent> {
  const { threadId, url } = agent
  const other = await openAgent(version, { url, threadId })
  await other.connectAgent()
  // The outcome of a client's tool has another id there.
  const plain = ({ messages }: Agent) => messages.map((one) => (one.role === 'tool' ? { ...one, id: '' } : one))
  expect(plain(other)).toEqual(plain(agent))
  expect(other.state).toEqual(agent.state)
  return other
}

describe.each(versions)('the client %s', (version) => {
  test('has a conversation, which another page finds again', async () => {
    const agent = await open(version, 'recall')
    await agent.say('One').runAgent()
    await agent.say('Two').runAgent()
    expect(agent.messages).toHaveLength(4)
    const { text, before } = JSON.parse(agent.messages.at(-1)?.content as string)
    expect([text, before.length]).toEqual(['Two', 2])
    expect(agent.end).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    await expectSaved(version, agent)
  })

  test('sees reasoning, and calls with their outcomes', async () => {
    const agent = await open(version, 'forecast')
    await agent.say('How warm is it?').runAgent()
    expect(outlineOf(agent.messages)).toEqual([
      'user: How warm is it?',
      'reasoning: Hm.',
      'assistant: One moment.  [weather {"city":"Ghent"}]',
      'tool: {"city":"Ghent","celsius":9}',
      expect.stringMatching(/^assistant: It says .*9/),
    ])
    await expectSaved(version, agent)
    expect(agent.end?.usage).toEqual([expect.objectContaining({ totalTokens: expect.any(Number) })])
  })

  test.each([
    [true, 'resolved', { approved: true }, /Done: .*"paid":5/],
    [false, 'resolved', { approved: false, reason: 'house rules' }, /Done: .*house rules/],
    [false, 'cancelled', undefined, /Done: /],
  ] as const)('is asked for an approval: %s, %s', async (approved, status, payload, said) => {
    const agent = await open(version, 'clerk')
    await agent.say('Refund me').runAgent()
    expect(agent.end).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'interrupt' } })
    const [asked] = agent.pendingInterrupts
    expect(asked).toMatchObject({ reason: 'tool_call', toolCallId: agent.messages.at(-1)?.toolCalls?.[0]?.id })
    const other = await expectSaved(version, agent)
    expect(other.pendingInterrupts).toEqual(agent.pendingInterrupts)

    const resume = [{ interruptId: asked?.id ?? '', status, ...(payload !== undefined && { payload }) }]
    await other.runAgent({ resume })
    expect(typesOf(other)).not.toContain('TOOL_CALL_START')
    expect(other.end).toMatchObject({ outcome: { type: 'success' } })
    expect(outlineOf(other.messages).at(-1)).toMatch(said)
    expect(outlineOf(other.messages).at(-2)).toMatch(approved ? /^tool: \{"paid":5\}/ : /^tool: Error: /)
    expect(other.pendingInterrupts).toEqual([])
    await expectSaved(version, other)
  })

  test('fills in a form, and confirms what a workflow does', async () => {
    const form = await open(version, 'asker')
    await form.say('Plan a trip').runAgent()
    const [asked] = form.pendingInterrupts
    expect(asked).toMatchObject({ reason: 'input_required', responseSchema: { required: ['city'] } })
    await form.runAgent({ resume: [{ interruptId: asked?.id ?? '', status: 'resolved', payload: { city: 'Ghent' } }] })
    expect(form.messages.at(-1)?.content).toContain('Ghent')
    const letter = await open(version, 'letter')
    await letter.say('we are closed.').runAgent()
    const [confirm] = letter.pendingInterrupts
    expect(confirm).toMatchObject({
      reason: 'confirmation',
      metadata: { data: { draft: 'Dear reader, we are closed.' } },
    })
    await letter.runAgent({
      resume: [{ interruptId: confirm?.id ?? '', status: 'resolved', payload: { approved: true } }],
    })
    expect(letter.messages.at(-1)?.content).toBe('Sent: Dear reader, we are closed.')
    await expectSaved(version, letter)
  })

  test.each([['picker'], ['pair']])('executes its own tools for %s', async (name) => {
    const tools = [{ name: 'pick', description: 'Picks one.', parameters: { type: 'object', properties: {} } }]
    const agent = await open(version, name)
    await agent.say('Choose').runAgent({ tools })
    const calls = agent.messages.at(-1)?.toolCalls ?? []
    expect(calls).toHaveLength(name === 'pair' ? 2 : 1)
    for (const [n, { id }] of calls.entries()) {
      agent.addMessage({ id: `of-${id}`, role: 'tool', toolCallId: id, content: `choice ${n}` })
    }
    await agent.runAgent({ tools })
    for (const n of calls.keys()) expect(agent.messages.at(-1)?.content).toContain(`choice ${n}`)
    expect(outlineOf(agent.messages).at(-1)).toMatch(/^assistant: Picked:/)
    expect(agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(calls.length)
    await expectSaved(version, agent)
  })

  test('shares a state with its agent', async () => {
    const agent = await open(version, 'tally', { initialState: { theme: 'dark' } })
    await agent.say('Count').runAgent()
    expect(agent.state).toEqual({ theme: 'dark', count: 1 })
    agent.setState({ ...agent.state, count: 10 })
    await agent.say('Again').runAgent()
    expect(agent.state).toEqual({ theme: 'dark', count: 11 })
    await expectSaved(version, agent)
  })

  test('sends files', async () => {
    const agent = await open(version, 'recall')
    const source = { type: 'data', value: btoa('PNG'), mimeType: 'image/png' }
    await agent
      .say([
        { type: 'text', text: 'Look' },
        { type: 'image', source },
      ])
      .runAgent()
    expect(JSON.parse(agent.messages.at(-1)?.content as string)).toMatchObject({ text: 'Look', files: ['image/png -'] })
  })

  test('stops the run when it leaves, and goes on with the next message', async () => {
    const agent = await open(version, 'slow')
    const file = newName('file')
    const running = agent.say(file).runAgent()
    await expect.poll(() => agent.messages.at(-1)?.content).toBe('One ')
    agent.abortRun()
    await running
    const runs = async () => (await judged.own.runs.list({ session_id: agent.threadId })).runs
    await expect.poll(async () => (await runs())[0]?.status, { timeout: 10_000 }).toBe('cancelled')
    expect((await runs())[0]?.cancellation_reason).toBe('client_disconnected')
    const next = newName('file')
    for (const word of [1, 2]) await judged.go(`${next}-${word}`)
    await agent.say(next).runAgent()
    expect(agent.messages.at(-1)?.content).toBe('One two three.')
    expect(agent.end).toMatchObject({ outcome: { type: 'success' } })
  })

  test('lets a run go on when it leaves, and comes back to it', async () => {
    const agent = await open(version, 'slow')
    const file = newName('file')
    const running = agent.say(file).runAgent({ forwardedProps: { agentserve: { on_disconnect: 'continue' } } })
    await expect.poll(() => agent.messages.at(-1)?.content).toBe('One ')
    agent.abortRun()
    await running
    const other = await openAgent(version, { url: agent.url, threadId: agent.threadId })
    const connected = other.connectAgent()
    await expect.poll(() => other.messages.at(-1)?.content).toBe('One ')
    for (const word of [1, 2]) await judged.go(`${file}-${word}`)
    await connected
    expect(other.messages.at(-1)?.content).toBe('One two three.')
    expect(other.messages).toHaveLength(2)
    await expectSaved(version, other)
  })

  test('is told of a cancelled run as it can be', async () => {
    const agent = await open(version, 'slow')
    const running = agent.say(newName('file')).runAgent()
    await expect.poll(() => agent.messages.at(-1)?.content).toBe('One ')
    const [run] = (await judged.own.runs.list({ session_id: agent.threadId })).runs
    await judged.own.runs.cancel(run?.run_id ?? '')
    await running
    expect(agent.end).toMatchObject(
      version === '1.0.0'
        ? { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } }
        : { type: 'RUN_ERROR', code: 'run_cancelled' },
    )
  })

  test('is told of a failure, and answered the next time', async () => {
    const agent = await open(version, 'broken')
    await agent.say('Bake').runAgent()
    expect(agent.end).toMatchObject({ type: 'RUN_ERROR', code: 'run_failed' })
    expect(agent.messages.at(-1)?.content).toBe('Half ')
    const next = await openAgent(version, { url: agent.url.replace('broken', 'recall'), threadId: agent.threadId })
    next.setMessages(agent.messages)
    await next.say('Hello?').runAgent()
    expect(next.end).toMatchObject({ outcome: { type: 'success' } })
  })

  test('answers a message anew, and another in its place', async () => {
    const agent = await open(version, 'counter')
    await agent.say('Guess', 'u1').runAgent()
    const [question, answer] = agent.messages
    agent.setMessages([question as object])
    await agent.runAgent()
    expect(agent.messages).toHaveLength(2)
    expect(agent.messages[1]?.content).not.toBe(answer?.content)
    await expectSaved(version, agent)
    agent.setMessages([{ ...question, content: 'Guess again' }])
    await agent.runAgent()
    expect(agent.messages[1]?.content).toContain('Guess again')
    await expectSaved(version, agent)
  })
})
