import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { versions as agUiVersions, openAgent } from '../../judges/ag-ui.ts'
import { connectMcp, mcpClients } from '../../judges/mcp.ts'
import { failureOf, openOpenAI, outputText, textOf, versions } from '../../judges/openai.ts'
import { type JudgedServer, newName, startJudged } from './judged-server.ts'

/* Keys of users: what is one's does not exist for the other, by any protocol. */

let judged: JudgedServer

beforeAll(async () => {
  judged = await startJudged({}, { JUDGES_KEYS: 'on' })
})
afterAll(() => judged?.close())

const keyOf = (user: string) => `the-key-of-${user}-0001`

describe.each(versions)('openai %i', (version) => {
  const of = (apiKey: string) => openOpenAI(version, judged.url, { apiKey })

  test('is refused without a key', async () => {
    const { completions, errors } = await of('no-key-at-all-here')
    const failure = await failureOf(completions.create({ model: 'recall', messages: [] }))
    expect(failure).toBeInstanceOf(errors.AuthenticationError)
    expect(failure).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'invalid_request_error' })
  })

  test('does not find the responses and conversations of another user', async () => {
    const [ann, ben] = await Promise.all([of(keyOf('ann')), of(keyOf('ben'))])
    const conversation = newName('ann')
    const mine = await ann.responses.create({ model: 'recall', input: 'A secret', conversation })
    expect(await failureOf(ben.responses.retrieve(mine.id))).toMatchObject({ status: 404 })
    expect(await failureOf(ben.responses.cancel(mine.id))).toMatchObject({ status: 404 })
    const input = 'What was said?'
    for (const more of [{ previous_response_id: mine.id }, { conversation }]) {
      const failure = await failureOf(ben.responses.create({ model: 'recall', input, ...more }))
      expect([400, 404]).toContain(failure.status)
      expect(failure.message).not.toContain('secret')
    }
    const next = await ann.responses.create({ model: 'recall', input, previous_response_id: mine.id })
    expect(outputText(next)).toContain('user: A secret')
  })

  test.each([
    ['ann', 'ben'],
    ['ben', 'ann'],
  ])('keeps two end users of one key apart who begin alike: %s, then %s', async (first, second) => {
    const { completions } = await of('the-key-of-the-operator')
    const begin = { role: 'user', content: newName('Hello') }
    const ask = async (user: string, messages: object[]) =>
      textOf(await completions.create({ model: 'recall', user: `${user}-${version}`, messages }))
    const answers = new Map<string, string>()
    for (const user of [first, second]) answers.set(user, await ask(user, [begin]))
    for (const user of [second, first]) {
      const answer = { role: 'assistant', content: answers.get(user) }
      const seen = await ask(user, [begin, answer, { role: 'user', content: `I am ${user}` }])
      expect(JSON.parse(seen).before).toHaveLength(2)
      const third = [begin, answer, { role: 'user', content: `I am ${user}` }, { role: 'assistant', content: seen }]
      const last = await ask(user, [...third, { role: 'user', content: 'Who am I?' }])
      expect(last).toContain(`I am ${user}`)
      expect(last).not.toContain(`I am ${user === first ? second : first}`)
    }
  })
})

test.each(agUiVersions)('AG-UI %s does not find the thread and the runs of another user', async (version) => {
  const threadId = newName('ann')
  const of = (user: string, id = threadId) =>
    openAgent(version, {
      url: `${judged.url}/api/v1/ag-ui/clerk`,
      threadId: id,
      headers: { Authorization: `Bearer ${keyOf(user)}` },
    })
  const ann = await of('ann')
  await ann.say('A secret').runAgent()
  const resume = ann.pendingInterrupts.map(({ id }) => ({
    interruptId: id,
    status: 'resolved' as const,
    payload: true,
  }))
  expect(resume).toHaveLength(1)
  const said = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => said.mockRestore())
  const ben = await of('ben')
  await expect(ben.connectAgent()).rejects.toThrow('HTTP 404')
  await expect(ben.say('What was said?').runAgent()).rejects.toThrow('HTTP 404')
  for (const id of [threadId, newName('ben')]) {
    const other = await of('ben', id)
    await other.say('Let it pass').runAgent({ resume })
    expect(other.end).toMatchObject({ type: 'RUN_ERROR', code: 'interrupt_mismatch' })
    expect(JSON.stringify(other.events)).not.toContain('secret')
  }
  await ann.runAgent({ resume })
  expect(ann.end).toMatchObject({ outcome: { type: 'success' } })
  await expect((await of('nobody')).say('Hello').runAgent()).rejects.toThrow('HTTP 401')
})

test.each(mcpClients)('%s does not find the sessions and runs of another user', async (client) => {
  const of = (user: string) =>
    connectMcp(client, { url: `${judged.url}/mcp`, headers: { Authorization: `Bearer ${keyOf(user)}` } })
  const [ann, ben] = await Promise.all([of('ann'), of('ben')])
  try {
    const session_id = newName('ann')
    const mine = await ann.call('ask_recall', { message: 'A secret', session_id })
    for (const [tool, args] of [
      ['get_run', { run_id: mine.structuredContent?.run_id }],
      ['cancel_run', { run_id: mine.structuredContent?.run_id }],
      ['ask_recall', { message: 'What was said?', session_id }],
    ] as const) {
      const foreign = await ben.call(tool, args)
      expect(foreign.isError).toBe(true)
      expect(JSON.stringify(foreign)).not.toContain('secret')
    }
    await expect(connectMcp(client, { url: `${judged.url}/mcp` })).rejects.toThrow()
  } finally {
    await Promise.all([ann.close(), ben.close()])
  }
})
