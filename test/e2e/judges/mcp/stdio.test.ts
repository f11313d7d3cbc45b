import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectMcp, type McpClient, type McpJudgeOptions, mcpClients } from '../../../judges/mcp.ts'
import { bin, command, createProject, environment, type Project, root } from '../../../support/program.ts'
import { newName } from '../judged-server.ts'

/* `agentserve mcp` without a server: one process, which a host starts and ends. */

let project: Project

beforeAll(async () => {
  project = await createProject({ 'docs/tea.md': '# Green tea\n\nGreen tea is brewed at seventy degrees.\n' })
  await project.copy(join(root, 'test/judges/agents.config.ts'), 'agent.config.ts')
  expect(await command(project, ['ingest', 'docs'])).toMatchObject({ code: 0 })
})
afterAll(() => project?.remove())

const connect = (client: McpClient, options: McpJudgeOptions = {}, folder = project.folder, args = ['mcp']) =>
  connectMcp(client, { command: process.execPath, args: [bin, ...args], cwd: folder, env: environment({}) }, options)

const textOf = (result: { content: { text?: string }[] }) => result.content[0]?.text ?? ''

test.each(mcpClients)('%s asks, searches and decides without a server, and finds it again', async (client) => {
  const session_id = newName('alone')
  const asked: string[] = []
  const elicit = ({ message }: { message: string }) => {
    asked.push(message)
    return { action: 'accept' as const, content: { approved: true } }
  }
  const mcp = await connect(client, { elicit })
  try {
    expect(textOf(await mcp.call('search', { query: 'green tea' }))).toContain('tea.md')
    expect(textOf(await mcp.call('ask_recall', { message: 'One', session_id }))).toContain('"text":"One"')
    expect(textOf(await mcp.call('ask_clerk', { message: 'Refund me' }))).toMatch(/Done: .*"paid":5/)
    expect(asked).toHaveLength(1)
    const left = newName('left')
    const leave = new AbortController()
    const call = mcp.call('ask_slow', { message: left, session_id: left }, { signal: leave.signal })
    const over = expect(call).rejects.toThrow()
    await project.write(`${left}-1`, '')
    leave.abort()
    await over
    expect((await mcp.call('ask_broken', { message: 'Bake' })).isError).toBe(true)
  } finally {
    await mcp.close()
  }
  const again = await connect(client)
  try {
    const answer = JSON.parse(textOf(await again.call('ask_recall', { message: 'Two', session_id })))
    expect(answer).toMatchObject({ text: 'Two', before: ['user: One', expect.any(String)] })
  } finally {
    await again.close()
  }
  const shown = await command(project, ['sessions', 'show', session_id])
  expect(shown.stdout).toMatch(/One[\s\S]*Two/)
})

test('only the agents that are named are offered', async () => {
  const mcp = await connect('client 2 of 2026-07-28', {}, project.folder, [
    'mcp',
    '--agent',
    'recall',
    '--agent',
    'slow',
  ])
  try {
    const { tools } = await mcp.listTools()
    expect(tools.map(({ name }) => name).filter((name) => name.startsWith('ask_'))).toEqual(['ask_recall', 'ask_slow'])
    await expect(mcp.call('ask_forecast', { message: 'Hello' })).rejects.toMatchObject({ code: -32602 })
  } finally {
    await mcp.close()
  }
})

test('a folder of documents is searched that has no configuration', async () => {
  const folder = await createProject({ 'docs/tea.md': '# Green tea\n\nGreen tea is brewed at seventy degrees.\n' })
  try {
    const mcp = await connect('SDK 1', {}, folder.folder)
    try {
      await expect.poll(async () => textOf(await mcp.call('search', { query: 'green tea' }))).toContain('tea.md')
    } finally {
      await mcp.close()
    }
  } finally {
    await folder.remove()
  }
})
