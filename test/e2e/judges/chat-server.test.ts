import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { lastCallOf, loadAi, openChat, outlineOf, reloadChat, textOf, versions } from '../../judges/chat.ts'
import { openCuttingProxy } from '../../support/client/cutting-proxy.ts'
import { command, createProject, type Project, type RunningServer, root, serve } from '../../support/program.ts'
import { expectSaved } from './saved.ts'

/* The program itself, judged by the published clients of its chat routes. */

let project: Project
let server: RunningServer

beforeAll(async () => {
  project = await createProject({ 'docs/tea.md': '# Green tea\n\nGreen tea is brewed at seventy degrees.\n' })
  await project.copy(join(root, 'test/judges/agents.config.ts'), 'agent.config.ts')
  server = await serve(project)
  expect(await command(project, ['ingest', 'docs'])).toMatchObject({ code: 0 })
})
afterAll(async () => {
  await server?.stop()
  await project?.remove()
})

const apiOf = (agent: string, url = server.url) => `${url}/api/v1/chat/${agent}`
const go = (file: string) => project.write(file, '')

const reload = (agent: string, { id }: { id: string }) => reloadChat(apiOf(agent), id)

describe.each(versions)('useChat of ai %i', (version) => {
  test('shows reasoning, tools and text in steps, and the reload gives the same', async () => {
    const chat = await openChat(version, { api: apiOf('forecast') })
    await chat.sendMessage({ text: 'How warm is it?' })
    expect(chat).toMatchObject({ status: 'ready', error: undefined })
    expect(outlineOf(chat.lastMessage)).toEqual([
      'step-start',
      'reasoning:done',
      'text:done',
      'tool-weather:output-available',
      'step-start',
      'text:done',
    ])
    expect(textOf(chat.lastMessage)).toMatch(/^One moment. It says .*"celsius":9/)
    expect(chat.lastMessage?.metadata).toMatchObject({ runId: expect.stringMatching(/^run_/), sessionId: chat.id })
    await expectSaved(version, apiOf('forecast'), chat)
  })

  test('shows the sources of an answer', async () => {
    const chat = await openChat(version, { api: apiOf('library') })
    await chat.sendMessage({ text: 'How hot is green tea brewed?' })
    expect(chat.lastMessage?.parts.find(({ type }) => type === 'source-document')).toMatchObject({
      mediaType: 'text/markdown',
      title: expect.stringContaining('docs/tea.md'),
    })
    expect(textOf(chat.lastMessage)).toContain('seventy degrees')
    await expectSaved(version, apiOf('library'), chat)
  })

  test('regenerates an answer and edits a message: the reload has only what took their place', async () => {
    const chat = await openChat(version, { api: apiOf('counter') })
    await chat.sendMessage({ text: 'one' })
    const first = textOf(chat.lastMessage)
    await chat.regenerate()
    expect(chat).toMatchObject({ status: 'ready', error: undefined })
    expect(textOf(chat.lastMessage)).toMatch(/^Answer \d+ to one$/)
    expect(textOf(chat.lastMessage)).not.toBe(first)
    expect(chat.messages).toHaveLength(2)
    await expectSaved(version, apiOf('counter'), chat)
    await chat.sendMessage({ text: 'two', messageId: chat.messages[0]?.id ?? '' })
    expect(chat).toMatchObject({ status: 'ready', error: undefined })
    expect(textOf(chat.lastMessage)).toMatch(/^Answer \d+ to two$/)
    await chat.sendMessage({ text: 'three' })
    expect(chat.messages).toHaveLength(4)
    await expectSaved(version, apiOf('counter'), chat)
  })

  test('comes back to a run after a cut, without a word twice or missing', async () => {
    const proxy = await openCuttingProxy(server.url)
    onTestFinished(() => proxy.close())
    const file = `cut-${version}`
    const chat = await openChat(version, { api: apiOf('slow', proxy.url) })
    const sent = chat.sendMessage({ text: file })
    await expect.poll(() => textOf(chat.lastMessage)).toBe('One ')
    proxy.cutAfter(9)
    await go(`${file}-1`)
    await sent
    expect(chat.status).toBe('error')
    const resumed = chat.resumeStream()
    await expect.poll(() => textOf(chat.lastMessage)).toBe('One two ')
    expect((await reload('slow', chat)).messages).toHaveLength(1)
    await go(`${file}-2`)
    await resumed
    expect(chat).toMatchObject({ status: 'ready', error: undefined })
    expect(textOf(chat.lastMessage)).toBe('One two three.')
    expect(chat.messages).toHaveLength(2)
    await expectSaved(version, apiOf('slow'), chat)
    await chat.resumeStream()
    expect(chat.status).toBe('ready')
    await expectSaved(version, apiOf('slow'), chat)
  })

  test('stops its stream alone, and the run with the route for it', async () => {
    const chat = await openChat(version, { api: apiOf('slow') })
    const sent = chat.sendMessage({ text: 'never' })
    await expect.poll(() => textOf(chat.lastMessage)).toBe('One ')
    await chat.stop()
    await sent
    expect(chat.status).toBe('ready')
    expect((await reload('slow', chat)).activeRunId).toMatch(/^run_/)
    const resumed = chat.resumeStream()
    await expect.poll(() => chat.status).toBe('streaming')
    for (let times = 0; times < 2; times++) {
      const stopped = await fetch(`${apiOf('slow')}/${chat.id}/stop`, { method: 'POST' })
      expect([stopped.status, await stopped.json()]).toEqual([200, { success: true }])
    }
    await resumed
    expect(chat).toMatchObject({ status: 'ready', error: undefined })
    const saved = await reload('slow', chat)
    expect(saved.activeRunId).toBeNull()
    expect(textOf(saved.messages.at(-1))).toBe('One ')
    expect(saved.messages.at(-1)?.metadata).toMatchObject({ status: 'cancelled' })
  })

  test('a new message after a plain stop takes the place of the run that goes on', async () => {
    const chat = await openChat(version, { api: apiOf('slow') })
    const sent = chat.sendMessage({ text: 'never' })
    await expect.poll(() => textOf(chat.lastMessage)).toBe('One ')
    await chat.stop()
    await sent
    await go(`next-${version}-1`)
    await go(`next-${version}-2`)
    await chat.sendMessage({ text: `next-${version}` })
    expect(textOf(chat.lastMessage)).toBe('One two three.')
    expect(chat.status).toBe('ready')
  })

  test('executes a tool of the page, and goes on with its output or its error', async () => {
    const { lastAssistantMessageIsCompleteWithToolCalls: sendAutomaticallyWhen } = await loadAi(version)
    const parameters = { type: 'object', properties: { of: { type: 'array' } } }
    const body = { agentserve: { client_tools: [{ name: 'pick', description: 'Asks for a color.', parameters }] } }
    const chat = await openChat(version, { api: apiOf('picker'), transport: { body }, sendAutomaticallyWhen })
    await chat.sendMessage({ text: 'Pick a color' })
    const part = lastCallOf(chat.lastMessage)
    expect(part).toMatchObject({ type: 'tool-pick', state: 'input-available', input: { of: ['red', 'green'] } })
    await expectSaved(version, apiOf('picker'), chat)
    await chat.addToolOutput({ tool: 'pick', toolCallId: part.toolCallId, output: 'green' })
    await expect.poll(() => textOf(chat.lastMessage)).toMatch(/Picked: .*green/)
    await expect.poll(() => chat.status).toBe('ready')
    await expectSaved(version, apiOf('picker'), chat)

    await chat.sendMessage({ text: 'Once more' })
    const { toolCallId } = lastCallOf(chat.lastMessage)
    await chat.addToolOutput({ tool: 'pick', toolCallId, state: 'output-error', errorText: 'I am color blind.' })
    await expect.poll(() => textOf(chat.lastMessage)).toMatch(/Picked: .*color blind/)
    await expect.poll(() => chat.status).toBe('ready')
    expect(chat.messages).toHaveLength(4)
    await expectSaved(version, apiOf('picker'), chat)
  })

  test('keeps what was said before a failure, and shows why', async () => {
    const chat = await openChat(version, { api: apiOf('broken') })
    await chat.sendMessage({ text: 'Bake' })
    expect(chat.status).toBe('error')
    expect(chat.error?.message).toMatch(/agent threw an error/)
    expect(textOf(chat.lastMessage)).toBe('Half ')
    const { messages } = await reload('broken', chat)
    expect(textOf(messages.at(-1))).toBe('Half ')
    expect(messages.at(-1)?.metadata).toMatchObject({ status: 'failed' })
  })

  test('shows a refusal as one sentence, and nothing to resume is no error', async () => {
    const chat = await openChat(version, { api: apiOf('nobody') })
    await chat.sendMessage({ text: 'Hello?' })
    expect(chat.status).toBe('error')
    expect(chat.error?.message).toMatch(/^[A-Z][^{}]*nobody[^{}]*\.$/)
    const fresh = await openChat(version, { api: apiOf('counter') })
    await fresh.resumeStream()
    expect(fresh).toMatchObject({ status: 'ready', error: undefined })
  })
})

test('the same message twice is one run, and both streams are the same to the byte', async () => {
  const body = JSON.stringify({
    id: 'posted-twice',
    messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'twice' }] }],
    trigger: 'submit-message',
  })
  const post = () => fetch(apiOf('slow'), { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const [one, other] = await Promise.all([post(), post()])
  const { activeRunId } = await reload('slow', { id: 'posted-twice' })
  expect([one.headers.get('x-run-id'), other.headers.get('x-run-id')]).toEqual([activeRunId, activeRunId])
  await go('twice-1')
  await go('twice-2')
  const frames = await one.text()
  expect(await other.text()).toBe(frames)
  expect(frames).toMatch(/^data: \{"type":"start".*"finish".*\n\ndata: \[DONE\]\n\n$/s)
  expect(await (await post()).text()).toBe(frames)
})
