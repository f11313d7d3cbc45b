import { join } from 'node:path'
import type { UIMessage } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lastCallOf, loadAi, openChat, outlineOf, reloadChat, textOf, versions } from '../../judges/chat.ts'
import { createProject, type Project, type RunningServer, root, serve } from '../../support/program.ts'
import { expectSaved } from './saved.ts'

let project: Project
let server: RunningServer

beforeAll(async () => {
  project = await createProject()
  await project.copy(join(root, 'test/judges/agents.config.ts'), 'agent.config.ts')
  server = await serve(project)
})
afterAll(async () => {
  await server?.stop()
  await project?.remove()
})

const apiOf = (agent: string) => `${server.url}/api/v1/chat/${agent}`
const reload = (agent: string, { id }: { id: string }) => reloadChat(apiOf(agent), id)

describe.each([6, 7] as const)('approvals in useChat of ai %i', (version) => {
  const open = async (agent: string) => {
    const { lastAssistantMessageIsCompleteWithApprovalResponses: sendAutomaticallyWhen } = await loadAi(version)
    return openChat(version, { api: apiOf(agent), sendAutomaticallyWhen })
  }

  test.each([true, false])('continue the message after a reload: approved %s', async (approved) => {
    const asked = await open('clerk')
    await asked.sendMessage({ text: 'Refund me' })
    expect(outlineOf(asked.lastMessage).at(-1)).toBe('tool-refund:approval-requested')
    await expectSaved(version, apiOf('clerk'), asked)
    await asked.resumeStream()
    expect(asked.status).toBe('ready')

    const { lastAssistantMessageIsCompleteWithApprovalResponses: sendAutomaticallyWhen } = await loadAi(version)
    const { messages } = await reload('clerk', asked)
    const chat = await openChat(version, { api: apiOf('clerk'), id: asked.id, messages, sendAutomaticallyWhen })
    const part = lastCallOf(chat.lastMessage)
    await chat.addToolApprovalResponse({ id: part.approval.id, approved, reason: 'house rules' })
    await expect.poll(() => textOf(chat.lastMessage)).toMatch(approved ? /Done: .*"paid":5/ : /Done: .*house rules/)
    await expect.poll(() => chat.status).toBe('ready')
    const state = approved ? 'output-available' : 'output-denied'
    expect(outlineOf(chat.lastMessage).slice(-3)).toEqual([`tool-refund:${state}`, 'step-start', 'text:done'])
    expect(chat.messages).toHaveLength(2)
    await expectSaved(version, apiOf('clerk'), chat)
  })

  test('are answered in an earlier message too, while a later one waits', async () => {
    const responded = ({ parts }: UIMessage) =>
      parts.some((part) => 'state' in part && part.state === 'approval-responded')
    const sendAutomaticallyWhen = ({ messages }: { messages: UIMessage[] }) => messages.some(responded)
    const chat = await openChat(version, { api: apiOf('clerk'), sendAutomaticallyWhen })
    await chat.sendMessage({ text: 'Refund me' })
    await chat.sendMessage({ text: 'And me' })
    const [earlier, later] = [chat.messages[1], chat.messages[3]]
    await chat.addToolApprovalResponse({ id: lastCallOf(earlier).approval.id, approved: true })
    await expect.poll(() => textOf(chat.messages[1])).toMatch(/Done: .*"paid":5/)
    await expect.poll(() => chat.status).toBe('ready')
    const { messages } = await reload('clerk', chat)
    expect(messages.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id))
    expect(outlineOf(messages[1]).at(-1)).toBe('text:done')
    expect(outlineOf(messages[3])).toEqual(outlineOf(later))
    expect(outlineOf(chat.messages[3])).toEqual(outlineOf(later))
  })

  test('of a workflow come as a tool call', async () => {
    const chat = await open('letter')
    await chat.sendMessage({ text: 'we are closed.' })
    const part = lastCallOf(chat.lastMessage)
    expect(part).toMatchObject({ state: 'approval-requested', input: { draft: 'Dear reader, we are closed.' } })
    await chat.addToolApprovalResponse({ id: part.approval.id, approved: true })
    await expect.poll(() => textOf(chat.lastMessage)).toBe('Sent: Dear reader, we are closed.')
    await expect.poll(() => chat.status).toBe('ready')
    await expectSaved(version, apiOf('letter'), chat)
  })

  test('may be posted twice, and answered only once', async () => {
    const { lastAssistantMessageIsCompleteWithApprovalResponses: sendAutomaticallyWhen } = await loadAi(version)
    let posted: { url: string; init: RequestInit } | undefined
    const recording: typeof fetch = (url, init) => {
      if (init?.method === 'POST') posted = { url: String(url), init: { ...init, signal: null } }
      return fetch(url, init)
    }
    const transport = { fetch: recording }
    const chat = await openChat(version, { api: apiOf('clerk'), transport, sendAutomaticallyWhen })
    await chat.sendMessage({ text: 'Refund me' })
    const part = lastCallOf(chat.lastMessage)
    await chat.addToolApprovalResponse({ id: part.approval.id, approved: true })
    await expect.poll(() => textOf(chat.lastMessage)).toMatch(/Done/)
    await expect.poll(() => chat.status).toBe('ready')
    const again = await fetch(posted?.url ?? '', posted?.init)
    expect(again.status).toBe(200)
    expect(await again.text()).toContain('"type":"tool-output-available"')
    const denied = String(posted?.init.body).replace('"approved":true', '"approved":false')
    expect((await fetch(posted?.url ?? '', { ...posted?.init, body: denied })).status).toBe(409)
    await expectSaved(version, apiOf('clerk'), chat)
  })
})

test('useChat of ai 5 gets approvals as data, and the resume route answers them', async () => {
  const api = apiOf('clerk')
  const chat = await openChat(5, {
    api: `${api}?ui=5`,
    transport: { prepareReconnectToStreamRequest: ({ id }) => ({ api: `${api}/${id}/stream?ui=5` }) },
  })
  await chat.sendMessage({ text: 'Refund me' })
  expect(chat).toMatchObject({ status: 'ready', error: undefined })
  const asked = chat.lastMessage?.parts.find(({ type }) => type === 'data-approval') as { data: Record<string, string> }
  const { run_id = '', call_id = '' } = asked.data
  const answer = { answers: { [call_id]: { approved: true } } }
  const resumed = await fetch(`${server.url}/api/v1/runs/${run_id}/resume`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(answer),
  })
  expect(resumed.status).toBe(202)
  await chat.resumeStream()
  expect(chat.status).toBe('ready')
  const reloaded = async () => (await reloadChat(api, chat.id, '?ui=5')).messages
  await expect.poll(async () => textOf((await reloaded()).at(-1))).toMatch(/Done: .*"paid":5/)
  const { validateUIMessages } = await loadAi(5)
  expect(await validateUIMessages({ messages: await reloaded() })).toHaveLength(2)
})

test.each(versions)('useChat of ai %i shows a form, whose answer continues the message', async (version) => {
  const api = apiOf('asker')
  const chat = await openChat(version, { api })
  await chat.sendMessage({ text: 'Where?' })
  expect(chat).toMatchObject({ status: 'ready', error: undefined })
  const form = chat.lastMessage?.parts.find(({ type }) => type === 'data-input-request') as { data: { run_id: string } }
  expect(form.data).toMatchObject({ prompt: 'Where?', schema: { type: 'object', required: ['city'] } })
  await expectSaved(version, api, chat)
  const resume = (input: object) =>
    fetch(`${server.url}/api/v1/runs/${form.data.run_id}/resume`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ answers: { where: { input } } }),
    })
  expect((await resume({ town: 'Ghent' })).status).toBe(400)
  expect((await resume({ city: 'Ghent' })).status).toBe(202)
  // Nothing, or the whole message again.
  await chat.resumeStream()
  expect(chat).toMatchObject({ status: 'ready', error: undefined })
  await expect.poll(async () => textOf((await reload('asker', chat)).messages.at(-1))).toBe('It is {"city":"Ghent"}.')
  const { messages } = await reload('asker', chat)
  const { validateUIMessages } = await loadAi(version)
  const [, answer] = await validateUIMessages({ messages })
  expect([messages.length, answer?.id]).toEqual([2, chat.lastMessage?.id])
  expect(answer?.parts).toContainEqual(expect.objectContaining({ data: expect.objectContaining({ answered: true }) }))
})
