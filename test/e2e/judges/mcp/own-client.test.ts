import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../../../src/client/index.ts'
import { bin, createProject, type Project, type RunningServer, serve } from '../../../support/program.ts'
import { type JudgedServer, startJudged } from '../judged-server.ts'

/* An agent whose tools are the agents of another agentserve, by our own client of MCP. */

const config = `
import { agent, defineConfig, mcp } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'

const { OTHER_URL, OTHER_BIN, OTHER_FOLDER } = process.env
const model = (name) =>
  scriptedModel(({ prompt, text, tools }) => {
    const last = prompt.at(-1)
    if (last.role === 'tool') return 'They say: ' + JSON.stringify(last.content.map(({ output }) => output))
    return { tool_calls: [{ name: name + '_' + text, input: { message: 'How warm is it?' } }] }
  })

export default defineConfig({
  mcpServers: {
    http: { url: OTHER_URL + '/mcp' },
    stdio: { command: process.execPath, args: [OTHER_BIN, 'mcp'], cwd: OTHER_FOLDER },
  },
  agents: {
    http: agent({ model: model('other'), tools: { other: mcp('http') } }),
    stdio: agent({ model: model('other'), tools: { other: mcp('stdio') } }),
  },
})
`

let judged: JudgedServer
let project: Project
let server: RunningServer

beforeAll(async () => {
  judged = await startJudged()
  project = await createProject({ 'agent.config.ts': config })
  const env = { OTHER_URL: judged.url, OTHER_BIN: bin, OTHER_FOLDER: judged.project.folder }
  server = await serve(project, 'dev', [], env)
})
afterAll(async () => {
  await server?.stop()
  await project?.remove()
  await judged?.close()
})

test.each(['http', 'stdio'])('an agent asks the agents of another server by MCP over %s', async (way) => {
  const client = createClient({ url: server.url })
  const ask = async (input: string) => (await client.agents.run(way, { input })).content
  try {
    expect(await ask('ask_forecast')).toMatch(/They say: .*celsius.*9/)
    expect(await ask('ask_broken')).toContain('The agent threw an error')
    expect(await ask('ask_clerk')).toContain('A person must decide')
  } finally {
    await client.close()
  }
  const { runs } = await judged.own.runs.list({ agent_id: 'clerk' })
  expect(runs[0]).toMatchObject({ status: 'input_required' })
})
