import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectA2A } from '../../judges/a2a.ts'
import { openAgent, versions } from '../../judges/ag-ui.ts'
import { openChat, reloadChat, textOf } from '../../judges/chat.ts'
import { connectMcp } from '../../judges/mcp.ts'
import { textOf as completionText, openOpenAI, outputText } from '../../judges/openai.ts'
import { command } from '../../support/program.ts'
import { type JudgedServer, startJudged } from './judged-server.ts'

let judged: JudgedServer

beforeAll(async () => {
  judged = await startJudged()
})
afterAll(() => judged?.close())

const saidBy = (text: string) => JSON.parse(text) as { text: string; before: string[] }

test('one conversation goes through every way in, and is shown whole', async () => {
  const { project, own, url } = judged
  const chatted = await command(project, ['chat', 'recall', '--url', url, '--json'], 'From the terminal\n')
  expect(chatted).toMatchObject({ code: 0 })
  const { runs: begun } = await own.runs.list({ agent_id: 'recall' })
  expect(begun).toHaveLength(1)
  const session = begun[0]?.session_id ?? ''
  const texts = ['From the terminal']
  const expectNext = (answer: string, text: string) => {
    const { text: heard, before } = saidBy(answer)
    expect(heard).toBe(text)
    expect(before.filter((message) => message.startsWith('user: '))).toEqual(texts.map((said) => `user: ${said}`))
    texts.push(text)
  }

  const api = `${url}/api/v1/chat/recall`
  const { messages } = await reloadChat(api, session)
  const chat = await openChat(7, { api, id: session, messages })
  await chat.sendMessage({ text: 'From useChat' })
  expect(chat).toMatchObject({ status: 'ready', error: undefined })
  expectNext(textOf(chat.lastMessage), 'From useChat')

  const { completions, responses } = await openOpenAI(7, url)
  const headers = { 'X-Session-Id': session }
  const asked = { model: 'recall', messages: [{ role: 'user', content: 'From chat completions' }] }
  expectNext(completionText(await completions.create(asked, { headers })), 'From chat completions')
  const response = await responses.create({ model: 'recall', input: 'From responses', conversation: session })
  expectNext(outputText(response), 'From responses')

  const mcp = await connectMcp('client 2 of 2026-07-28', { url: `${url}/mcp` })
  const result = await mcp.call('ask_recall', { message: 'From MCP', session_id: session })
  await mcp.close()
  expectNext(result.content[0]?.text ?? '', 'From MCP')

  const a2a = await connectA2A('1.0', `${url}/api/v1/a2a/agents/recall/`)
  const task = await a2a.send({ text: 'From A2A', contextId: session })
  expect(task).toMatchObject({ state: 'completed', contextId: session })
  expectNext(task.text, 'From A2A')

  for (const version of versions) {
    const agent = await openAgent(version, { url: `${url}/api/v1/ag-ui/recall`, threadId: session })
    await agent.connectAgent()
    expect(agent.messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(texts)
    await agent.say(`From AG-UI ${version}`).runAgent()
    expectNext(String(agent.messages.at(-1)?.content), `From AG-UI ${version}`)
  }

  const history = await own.sessions.history(session)
  const said = history.messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  expect(said).toEqual(texts)
  expect(history.messages.filter(({ role }) => role === 'assistant')).toHaveLength(texts.length)
  expect((await own.runs.list({ session_id: session })).runs).toHaveLength(texts.length)
  const whole = await reloadChat(api, session)
  expect(whole.messages.filter(({ role }) => role === 'user').map(textOf)).toEqual(texts)
  expect(
    whole.messages
      .filter(({ role }) => role === 'assistant')
      .map(textOf)
      .map(saidBy),
  ).toHaveLength(texts.length)
  const shown = await command(project, ['sessions', 'show', session])
  expect(shown.code).toBe(0)
  for (const text of texts) expect(shown.stdout).toContain(text)
})
