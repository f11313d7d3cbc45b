import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project, type RunningServer, root, serve } from '../../support/program.ts'

const fixture = join(root, 'test/fixtures/mcp-server.ts')
const config = (more = '', options = '{}') => `
import { agent, defineConfig, mcp } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'

const model = scriptedModel(({ text, prompt }) =>
  prompt.at(-1).role === 'tool'
    ? prompt.at(-1).content.map(({ output }) => output.value).join()
    : { tool_calls: [{ name: 'calc_' + text, input: { a: 1, b: 2 } }] })

export default defineConfig({
  mcpServers: { calc: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(fixture)}], env: { ABOUT: 'about' } } },
  agents: { counts: agent({ model, tools: { calc: mcp('calc', ${options}) }, ${more} }) },
})
`

let project: Project
let server: RunningServer

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config(), about: 'Adds' })
  server = await serve(project, 'start')
})
afterAll(async () => {
  await server?.stop()
  await project?.remove()
})

async function ask(input: string): Promise<{ status?: string; content?: string; error?: { message: string } }> {
  const answer = await fetch(`${server.url}/api/v1/agents/counts/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input }),
  })
  return (await answer.json()) as { status?: string; content?: string }
}

/** What doctor finds of the tools. */
async function findings(...more: string[]) {
  const { code, stdout, stderr } = await command(project, ['doctor', '--json', ...more])
  const all = stdout
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  return { code, stderr, tools: all.filter(({ check }) => check === 'tools') }
}

test('a tool that has changed over a restart asks for every call, until doctor is told that it may', async () => {
  expect(await ask('add')).toMatchObject({ status: 'completed', content: '3' })
  const kept = await readdir(join(project.folder, '.agentserve/mcp-tools'))
  expect(kept).toEqual([expect.stringMatching(/^calc-[0-9a-f]{16}\.first\.json$/)])
  await server.stop()
  await project.write('about', 'Adds, and tells somebody')
  server = await serve(project, 'start')
  for (const _ of [1, 2]) expect(await ask('add')).toMatchObject({ status: 'input_required' })
  expect(await ask('pid')).toMatchObject({ status: 'completed' })
  expect((await findings()).tools).toEqual([
    {
      check: 'tools',
      state: 'warning',
      message:
        'counts: calc: add of the MCP server calc changed since they were first seen; every call now needs approval',
      fix: 'agentserve doctor --accept-tools calc, if you trust the change',
    },
  ])
  expect(await ask('add')).toMatchObject({ status: 'input_required' })
  expect(await findings('--accept-tools', 'calc')).toMatchObject({
    code: 0,
    tools: [{ state: 'ok', message: expect.stringContaining('are accepted (changed: add)') }],
  })
  expect(await ask('add')).toMatchObject({ status: 'completed', content: '3' })
  expect((await findings()).tools).toMatchObject([
    { state: 'ok', message: expect.stringMatching(/^counts: calc: \d+ tools? of/) },
  ])
})

test('a name that is none of its tools is told by the run, the log and doctor in the same words', async () => {
  await server.stop()
  await project.write('agent.config.ts', config("toolApproval: { calc_ad: 'user-approval' }"))
  server = await serve(project, 'start')
  const words =
    "The entry 'calc' of `tools` brings no tools: `toolApproval` names 'calc_ad', which is none of its tools; did you mean 'calc_add'?"
  expect((await ask('add')).error?.message).toContain(words)
  expect(server.stderr()).toContain(words)
  const found = await findings()
  expect(found.code).toBe(1)
  expect(found.tools).toMatchObject([{ state: 'wrong', message: `counts: calc: ${words}` }])
})

test('a name in `tools` that the server does not have is told once in the log, and by doctor; runs go on', async () => {
  await server.stop()
  await project.write('agent.config.ts', config('', "{ tools: ['add', 'pit'] }"))
  server = await serve(project, 'start')
  const words = "`tools` of mcp() names 'pit', which is none of its tools; did you mean 'pid'?"
  for (const _ of [1, 2]) expect(await ask('add')).toMatchObject({ status: 'completed', content: '3' })
  expect(server.stderr().split(words)).toHaveLength(2)
  const found = await findings()
  expect(found.tools).toEqual([
    { check: 'tools', state: 'ok', message: 'counts: calc: 1 tool of the MCP server calc' },
    {
      check: 'tools',
      state: 'warning',
      message: `counts: calc: ${words}`,
      fix: 'correct the name; the agent does without this tool',
    },
  ])
})

test('doctor says which entries there are when it is told of another', async () => {
  const { code, stderr } = await findings('--accept-tools', 'cal')
  expect(code).toBe(2)
  expect(stderr).toContain("No agent has an MCP server under 'cal' in its `tools`; did you mean 'calc'?")
})
