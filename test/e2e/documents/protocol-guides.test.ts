import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { blocks, isProtocolProgram } from '../../support/guides.ts'
import { linkJudges, linkOwn } from '../../support/judge-packages.ts'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

/* The programs and settings of docs/openai.md, docs/mcp-server.md and docs/ag-ui.md, against a server with the agents that they name. */

const programs = blocks.filter(isProtocolProgram)
const settings = blocks.filter(({ language }) => language === 'yaml')

const config = `
import { agent, defineConfig, tool } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
import { z } from 'zod'
const isAnswered = ({ prompt }) => prompt.at(-1).role === 'tool'
const refund = tool({ inputSchema: z.object({ order: z.number() }), needsApproval: true, execute: () => 'Refunded.' })
const callOf = (name, input) => ({ tool_calls: [{ name, input, call_id: name }] })
export default defineConfig({
  agents: {
    docs: agent({ *run({ text }) { yield text } }),
    echo: agent({ *run({ text }) { yield text } }),
    helper: agent({ model: scriptedModel(() => '{"city":"Bern"}') }),
    guide: agent({ model: scriptedModel((call) => (isAnswered(call) ? 'You are in Ghent.' : callOf('place', {}))) }),
    desk: agent({
      tools: { refund },
      model: scriptedModel((call) => (isAnswered(call) ? 'Refunded.' : callOf('refund', { order: 7 }))),
    }),
  },
})
`
let project: Project
let server: RunningServer

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  await linkJudges(project.folder, ['openai', '@modelcontextprotocol/client', '@ag-ui/client', 'ai'])
  await linkOwn(project.folder, ['@ai-sdk/openai-compatible'])
  server = await serve(project)
})
afterAll(async () => {
  await server?.stop()
  await project?.remove()
})

const here = (text: string) => text.replaceAll('http://127.0.0.1:8080', server.url)

test('finds the programs and settings that it is about', () => {
  expect(programs.length).toBeGreaterThan(8)
  expect(settings.length).toBeGreaterThan(1)
})

test.each(programs)('the program of $place prints what its comments say', async ({ place, text }) => {
  const promised = [...text.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, words]) => words)
  expect(promised.length, place).toBeGreaterThan(0)
  await project.write('program.ts', here(text))
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['program.ts'], { cwd: project.folder })
  expect(stderr).toBe('')
  expect(stdout.trimEnd().split('\n')).toEqual(promised)
})

interface Settings {
  endpoints?: { custom: { baseURL: string; models: { default: string[] }; headers: Record<string, string> }[] }
  models?: { model: string; apiBase: string }[]
}

test.each(settings)('the settings of $place reach models that are served', async ({ text }) => {
  const { endpoints, models = [] } = parse(here(text)) as Settings
  const custom = endpoints?.custom.flatMap(({ baseURL, models }) => models.default.map((model) => ({ baseURL, model })))
  const all = [...(custom ?? []), ...models.map(({ apiBase, model }) => ({ baseURL: apiBase, model }))]
  expect(all.length).toBeGreaterThan(0)
  for (const { baseURL, model } of all) expect((await fetch(`${baseURL}/models/${model}`)).status).toBe(200)
  for (const { baseURL, headers } of endpoints?.custom ?? []) {
    const named = Object.entries(headers).map(([name]): [string, string] => [name, 'conversation-1'])
    const answer = await fetch(`${baseURL}/chat/completions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...Object.fromEntries(named) },
      body: JSON.stringify({ model: 'docs', messages: [{ role: 'user', content: 'hi' }] }),
    })
    expect(answer.headers.get('X-Session-Id')).toBe('conversation-1')
  }
})
