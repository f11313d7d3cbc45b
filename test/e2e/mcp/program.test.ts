import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createProject, type Project, type RunningServer, root, serve } from '../../support/program.ts'

const fixture = join(root, 'test/fixtures/mcp-server.ts')
const config = ({ about = 'first', generation = '1' }) => `
import { agent, defineConfig, mcp } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'

const model = scriptedModel(({ text, prompt }) =>
  prompt.at(-1).role === 'tool'
    ? prompt.at(-1).content.map(({ output }) => output.value).join()
    : { tool_calls: [{ name: 'files_' + text, input: {} }] })

export default defineConfig({
  mcpServers: {
    files: {
      command: ${JSON.stringify(process.execPath)},
      args: [${JSON.stringify(fixture)}],
      env: { STARTS: 'starts', GENERATION: '${generation}', TOKEN: 'key-123456' },
    },
  },
  agents: { keeper: agent({ description: '${about}', model, tools: { files: mcp('files', { tools: ['pid', 'refuse'] }) } }) },
})
`

let project: Project
let server: RunningServer

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config({}) })
  server = await serve(project)
})
afterAll(async () => {
  await server?.stop()
  await project?.remove()
})

async function ask(input: string): Promise<{ content: string; run_id: string }> {
  const answer = await fetch(`${server.url}/api/v1/agents/keeper/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input }),
  })
  return (await answer.json()) as { content: string; run_id: string }
}

async function edit(change: { about: string; generation?: string }): Promise<void> {
  await project.write('agent.config.ts', config(change))
  await vi.waitFor(async () => {
    const keeper = await (await fetch(`${server.url}/api/v1/agents/keeper`)).json()
    expect(keeper).toMatchObject({ description: change.about })
  }, 20_000)
}

function isAlive(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
const isGone = (pid: string) => vi.waitFor(() => expect(isAlive(pid)).toBe(false), 20_000)

test('the first run starts an MCP server, and its allowed tools are called and recorded', async () => {
  await expect(project.read('starts')).rejects.toThrow('ENOENT')
  const { content, run_id } = await ask('pid')
  expect(isAlive(content)).toBe(true)
  const events = await (await fetch(`${server.url}/api/v1/runs/${run_id}/events`)).text()
  expect(events).toContain('"type":"tool_call","call_id"')
  expect(events).toContain(`"name":"files_pid","output":"${content}"`)
  expect((await ask('refuse')).content).toContain('not today')
  expect((await ask('env')).content).not.toContain('key-123456')
})

test('what it says on stderr is in the log, without control codes and its own key', () => {
  expect(server.stderr()).toContain('ready, my key is ***')
  expect(server.stderr()).not.toContain('key-123456')
  expect(server.stderr()).not.toContain('\u001b]0;mine')
})

test('a reload keeps a server whose settings stay, and ends one whose settings change', async () => {
  const { content: pid } = await ask('pid')
  await edit({ about: 'second' })
  expect((await ask('pid')).content).toBe(pid)
  await edit({ about: 'third', generation: '2' })
  const { content: next } = await ask('pid')
  expect(next).not.toBe(pid)
  await isGone(pid)
  await edit({ about: 'fourth', generation: '2' })
  expect((await ask('pid')).content).toBe(next)
})

test('a server that was killed is there again for the next run', async () => {
  const { content: pid } = await ask('pid')
  process.kill(Number(pid), 'SIGKILL')
  await vi.waitFor(() => expect(server.stderr()).toContain('it ended (signal SIGKILL)'), 20_000)
  const { content: next } = await ask('pid')
  expect(isAlive(next)).toBe(true)
  expect(next).not.toBe(pid)
})

test('stopping ends it, and so does the death of the server itself', async () => {
  const { content: first } = await ask('pid')
  await server.stop()
  expect(isAlive(first)).toBe(false)
  server = await serve(project, 'start')
  const { content: second } = await ask('pid')
  await server.kill()
  await isGone(second)
  server = await serve(project)
})
