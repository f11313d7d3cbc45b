import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blocks, commandsOf, guides, isProtocolProgram } from '../../support/guides.ts'
import { linkJudges } from '../../support/judge-packages.ts'
import {
  command,
  createProject,
  environment,
  launch,
  type Project,
  type RunningServer,
  root,
  serve,
} from '../../support/program.ts'
import { openScriptedServer } from '../../support/scripted-server.ts'
import { openSite, type TestSite } from '../../support/test-site.ts'

/** test/e2e/postgres/guide.test.ts runs them. */
const needsPostgres = (text: string) => /type: 'postgres'|agentserve storage\b/.test(text)
const configs = blocks.filter(
  ({ language, text }) => language === 'ts' && text.includes('export default defineConfig') && !needsPostgres(text),
)
const tests = blocks.filter(({ language, text }) => language === 'ts' && text.includes("from 'node:test'"))
const clients = blocks.filter(
  ({ language, text }) => language === 'ts' && /from '(?:agentserve|@a2a-js\/sdk)\/client'/.test(text),
)
const programs = blocks.filter(
  (block) =>
    block.language === 'ts' &&
    !needsPostgres(block.text) &&
    !isProtocolProgram(block) &&
    !block.text.includes('@copilotkit') &&
    ![...tests, ...clients].includes(block) &&
    !configs.some(({ text }) => text === block.text),
)
const shell = blocks.filter(({ language, place }) => language === 'sh' && !place.startsWith('docs/postgres.md'))
const curls = shell.flatMap(({ place, text, after }) =>
  commandsOf(text)
    .filter((line) => line.startsWith('curl '))
    .map((line) => ({ place, line, ...promised(line, after) })),
)
// commands.test.ts runs the others.
const calls = shell
  .flatMap(({ place, text }) =>
    commandsOf(text)
      .filter((line) => line.startsWith('npx agentserve '))
      .map((line) => ({ place, line })),
  )
  .filter(({ line }) => !/agentserve (?:dev|start|init)\b/.test(line) && !needsPostgres(line))

/** What the text after a command shows for it, up to the next heading: a status, JSON, the beginning of a stream. */
function promised(line: string, after: string): { status: number; json?: string | undefined; stream: string } {
  const section = after.split(/^#/m)[0] ?? ''
  const status = Number(/answer is (2\d\d)/.exec(section)?.[1] ?? 200)
  const stream = /^\n+```text\n(.*?)^```$/ms.exec(section)?.[1] ?? ''
  return { status, json: line.includes('-N ') ? undefined : /^```json\n(.*?)^```$/ms.exec(section)?.[1], stream }
}

/** The answers that the documents show for no command. */
const errors: { path: string; body?: unknown }[] = [
  { path: '/v1/models/ecko' },
  { path: '/api/v1/sessions?limit=0' },
  {
    path: '/api/v1/a2a/sendMessage',
    body: {
      jsonrpc: '2.0',
      method: 'sendMessage',
      id: '1',
      params: { message: { messageId: 'm1', role: 'user', agentId: 'ecko', parts: [{ type: 'text', content: 'hi' }] } },
    },
  },
]

/** What the commands upload; one that saves its answer adds it. */
const files: Record<string, string> = { 'guide.md': '# Guide\n\nHello.\n', 'note.txt': 'A note.\n' }
let project: Project
let server: RunningServer

beforeAll(async () => {
  project = await createProject(files)
  for (const [name, text] of guides) await project.write(name, text)
  await project.copy(join(root, 'agent.config.ts'), 'example.ts')
  await project.write('report.ts', configs.find(({ text }) => text.includes('report: workflow('))?.text ?? '')
  await project.write('agent.config.ts', served)
  server = await serve(project)
  await finish('ingest', 'docs', 'README.md')
})

/** What this repository serves, the workflow of the guides, a run that goes on until it is cancelled, one that asks, and tools of a server. */
const served = `
import { agent, mcp, tool } from 'agentserve'
import { z } from 'zod'
import { scriptedModel } from 'agentserve/testing'
import example from './example.ts'
import report from './report.ts'
const waits = agent({ async *run({ signal }) { await new Promise((done) => signal.addEventListener('abort', done)) } })
const asks = agent({ *run({ resumed }) { yield resumed ? 'thanks' : { type: 'input_required', call_id: 'may', prompt: 'May I?' } } })
const server = { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(join(root, 'test/fixtures/mcp-server.ts'))}] }
const keeper = agent({ tools: { files: mcp(server) } })
const helper = agent({ model: scriptedModel(() => '{"city":"Bern"}') })
const look = tool({ inputSchema: z.object({ day: z.number() }), execute: async ({ day }) => day })
const threeDays = { tool_calls: [1, 2, 3].map((day) => ({ name: 'look', input: { day }, call_id: 'day' + day })) }
const looks = agent({ tools: { look }, model: scriptedModel(({ prompt }) => (prompt.at(-1).role === 'tool' ? 'Three days.' : threeDays)) })
const schedules = { nightly: { cron: '0 3 * * *', agent: 'echo', input: 'hello' } }
export default { ...example, schedules, agents: { ...example.agents, waits, asks, keeper, helper, looks }, workflows: report.workflows }
`

afterAll(async () => {
  await server?.stop()
  await project?.remove()
})

async function finish(...args: string[]) {
  const end = await command(project, args)
  expect(end.code, `agentserve ${args.join(' ')}: ${end.stderr}`).toBe(0)
  return end
}

async function post(path: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await answer.json()) as Record<string, unknown>
}

test('finds the examples that it is about', () => {
  expect(configs.length).toBeGreaterThan(8)
  expect(programs.length).toBeGreaterThan(1)
  expect(curls.length).toBeGreaterThan(20)
  expect(calls.length).toBeGreaterThan(8)
})

test('every configuration loads without a complaint', async () => {
  const own = await createProject()
  await symlink(join(root, 'node_modules/@ai-sdk'), join(own.folder, 'node_modules/@ai-sdk'), 'dir')
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const env = { MY_KEY: 'a-key-of-this-test', WEBHOOK_SECRET: secret }
  try {
    for (const [index, { place, text }] of configs.entries()) {
      await own.write(`${index}.config.ts`, text.replaceAll("['docs', 'README.md']", '[]').replaceAll("['docs']", '[]'))
      const flags = ['--config', `${index}.config.ts`, '--data', `data-${index}`]
      const { code, stderr } = await command(own, ['agents', '--json', ...flags], '', env)
      expect({ code, stderr }, place).toEqual({ code: 0, stderr: '' })
    }
  } finally {
    await own.remove()
  }
}, 120_000)

test.each(programs)('the program of $place runs, and stops serving', async ({ text }) => {
  const own = await createProject()
  try {
    const free = text.replace(/createServer\(\{ (?:address: '[^']*', )?/, "createServer({ address: '127.0.0.1:0', ")
    await own.write('program.ts', !text.includes('createServer') ? text : `${free}\nawait server.close()\n`)
    const run = promisify(execFile)(process.execPath, ['program.ts'], { cwd: own.folder })
    await expect(run).resolves.toMatchObject({ stdout: expect.stringMatching(/^(Listening on http:.*\n)?$/) })
  } finally {
    await own.remove()
  }
})

test.each(clients)('the client of $place gets its answers', async ({ text }) => {
  await linkJudges(project.folder, ['@a2a-js/sdk'])
  await project.write('client.ts', text.replaceAll('http://127.0.0.1:8080', server.url))
  const run = promisify(execFile)(process.execPath, ['client.ts'], { cwd: project.folder })
  const shown = text.includes('@a2a-js/sdk') ? /^$/ : /hello there|ses_unknown/
  await expect(run).resolves.toMatchObject({ stdout: expect.stringMatching(shown), stderr: '' })
})

test.each(tests)('the test of $place passes, with recordings when it has some', async ({ place, text }) => {
  const endpoint = await openScriptedServer((_request, response) => {
    const choices = [{ index: 0, delta: { content: 'It is noon.' }, finish_reason: 'stop' }]
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`data: ${JSON.stringify({ id: '1', created: 1, model: 'm', choices })}\n\ndata: [DONE]\n\n`)
  })
  const config = configs.find((block) => block.place.startsWith(place.replace(/:.*/, ':')))?.text ?? ''
  const own = await createProject({ 'agent.config.ts': config, 'test/agents.test.ts': text })
  const node = (env: Record<string, string>) =>
    promisify(execFile)(process.execPath, ['--test'], { cwd: own.folder, env: environment(env) })
  try {
    if (text.includes('recordedModel')) await node({ AGENTSERVE_RECORD: '1', OLLAMA_HOST: endpoint.url })
    await endpoint.close()
    await expect(node({ OLLAMA_HOST: endpoint.url })).resolves.toMatchObject({ stderr: '' })
  } finally {
    await own.remove()
  }
})

test.each(curls)('$place gets the answer that the text shows: $line', async ({ place, line, status, json, stream }) => {
  const request = toRequest(await withRealIds(line))
  const answer = await fetch(server.url + request.path, request)
  const text = await answer.text()
  const saved = / > (\S+)$/.exec(line)?.[1]
  if (saved !== undefined) files[saved] = text
  expect(answer.status, `${place}: ${text}`).toBe(status)
  expect(withoutIds(text).startsWith(withoutIds(stream)), `${place}: ${text}`).toBe(true)
  if (json === undefined) return
  const shape = JSON.parse(json)
  // Of messages, one is shown.
  const value = /\/history|\/messages/.test(line) ? JSON.parse(text).messages[0] : JSON.parse(text)
  expect(outline(value, shape), place).toEqual(outline(shape, shape))
})

function withoutIds(text: string): string {
  return text.replace(/\b(run|ses|req)_[\w…]+/g, '$1').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'at')
}

test('every other answer that is shown is one to a request that is wrong', async () => {
  const claimed = curls.map(({ json }) => json)
  const shown = blocks.filter(({ language, text }) => language === 'json' && !claimed.includes(text))
  const answers = await Promise.all(
    errors.map(({ path, body }) =>
      body === undefined ? fetch(server.url + path).then((answer) => answer.json()) : post(path, body),
    ),
  )
  const compact = (answer: unknown) => withoutIds(JSON.stringify(answer))
  expect(answers.map(compact).sort()).toEqual(shown.map(({ text }) => compact(JSON.parse(text))).sort())
})

/** The line, with ids that exist in place of those that the documents show. */
async function withRealIds(line: string): Promise<string> {
  let real = line
  if (line.includes('/messages?'))
    await post('/api/v1/agents/echo/run', { input: 'What are the opening hours in winter?' })
  if (/\bses_\w+/.test(line) || /\brun_\w+/.test(line)) {
    const cancels = /[/ ]cancel\b/.test(line)
    const note = { type: 'file', media_type: 'text/plain', name: 'note.txt', data: 'QSBub3RlLgo=' }
    const withFile = /\bfile_\w{26}/.test(line) && { parts: [{ type: 'text', text: 'hello there' }, note] }
    const input = { input: withFile || 'hello there', background: cancels }
    const action = /[/ ](resume|again)\b/.exec(line)?.[1]
    const agentId = cancels ? 'waits' : action === 'resume' ? 'asks' : action === 'again' ? 'looks' : 'echo'
    const run = await post(`/api/v1/agents/${agentId}/run`, input)
    real = real.replace(/\bses_\w+/, String(run.session_id)).replace(/\brun_(?!id\b)\w+/, String(run.run_id))
    const fileId = /"file_id":"(\w+)"/.exec(JSON.stringify(run))?.[1]
    if (fileId !== undefined) real = real.replace(/\bfile_\w{26}/, fileId)
    if (line.includes('/shared/agent/docs')) {
      for (const agentId of ['docs', 'echo'])
        await post(`/api/v1/sessions/${run.session_id}/reuse`, { agent_id: agentId })
    }
  }
  if (/\b(?:doc|chk)_\w+/.test(line)) {
    const document = await post('/api/v1/knowledge/content', { content: 'To be deleted.', source: 'deleted.txt' })
    const [chunkId] = document.chunk_ids as string[]
    real = real.replace(/\bdoc_\w+/, String(document.document_id)).replace(/\bchk_\w+/, String(chunkId))
  }
  return real
}

interface CurlRequest {
  path: string
  method: string
  headers: Headers
  body?: string | FormData
}

/** A curl command as a request; an option that no document uses yet is an error. */
function toRequest(line: string): CurlRequest {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"\\]+(?:='[^']*')?)/g)].map(
    ([, a, b, c]) => a ?? b ?? c ?? '',
  )
  const headers = new Headers()
  const request: CurlRequest = { path: '', method: '', headers }
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? ''
    const value = () => words[++index] ?? ''
    if (word.startsWith('http://')) request.path = word.replace(/^http:\/\/[^/]+/, '')
    else if (word === '-X') request.method = value()
    else if (word === '-H') headers.append(...(value().split(/:\s*/, 2) as [string, string]))
    else if (word === '-d') request.body = value()
    else if (word === '--data-binary') request.body = files[value().slice(1)] ?? ''
    else if (word === '-F') {
      const form = request.body instanceof FormData ? request.body : new FormData()
      request.body = form
      const [name = '', field = ''] = value().split(/=(.*)/s)
      if (field.startsWith('@')) form.append(name, new Blob([files[field.slice(1)] ?? '']), field.slice(1))
      else form.append(name, field)
    } else if (word === '>' || word === '-o') value()
    else if (!['-i', '-N'].includes(word)) throw new Error(`What does curl's ${word} do in ${line}?`)
  }
  request.method ||= request.body === undefined ? 'GET' : 'POST'
  return request
}

/** Names and kinds of what an answer has, as far as the document shows them; what it shows as null may be anything. */
function outline(value: unknown, shown: unknown): unknown {
  if (shown === null) return null
  if (Array.isArray(shown))
    return Array.isArray(value) ? shown.slice(0, 1).map((item) => outline(value[0], item)) : typeof value
  if (typeof shown !== 'object') return typeof value
  if (typeof value !== 'object' || value === null) return String(value)
  // Metadata holds what the caller put in.
  const names = Object.keys(value).sort()
  return Object.fromEntries(
    names.map((name) => {
      const inner = (shown as Record<string, unknown>)[name]
      return [
        name,
        name === 'metadata' || inner === undefined ? null : outline((value as Record<string, unknown>)[name], inner),
      ]
    }),
  )
}

/** What the guides call https://example.com. */
let site: TestSite
beforeAll(async () => {
  const page = '<main><h1>A guide</h1><p>High water is at noon.</p></main>'
  site = await openSite({ '/': page, '/guide': page, '/llms.txt': '[the guide](/guide)' })
  site.pages.set('/sitemap.xml', `<urlset><url><loc>${site.url}/guide</loc></url></urlset>`)
})
afterAll(() => site.close())

test.each(calls)('$place: $line', async ({ line }) => {
  // Neither replaces what is there.
  const output = /--output (\S+)| backup (\S+)| restore \S+ --data (\S+)/.exec(line)?.slice(1).find(Boolean)
  if (output !== undefined) await rm(join(project.folder, output), { force: true, recursive: true })
  // Nobody may use the folder meanwhile.
  if (line.includes('--compact')) return void (await alone(line))
  const words = [...(await withRealIds(line)).matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  )
  const args = words.slice(words.indexOf('agentserve') + 1).map((word) => word.replace('https://example.com', site.url))
  if (line.includes('https://example.com')) args.push('--allow-http', '--allow-private')
  if (!line.includes('sessions tail')) return void (await finish(...args))
  // It goes on until it is stopped.
  const running = launch(project, args)
  while (!running.stderr().includes('Following')) await once(running.child.stderr as NodeJS.ReadableStream, 'data')
  running.child.kill('SIGINT')
  expect(await running.finished).toMatchObject({ code: 130 })
})

async function alone(line: string): Promise<void> {
  const own = await createProject({ 'note.md': '# A note\n' })
  try {
    for (const words of ['ingest note.md', line.replace(/^.*?agentserve /, '')]) {
      const end = await command(own, words.split(' '))
      expect(end.code, end.stderr).toBe(0)
    }
  } finally {
    await own.remove()
  }
}

const questions: [question: string, words: string, source: string][] = [
  ['What is the default request timeout?', '30 seconds', 'docs/configuration.md'],
  ['How do I set the port?', '--port', 'docs/cli.md'],
  ['How do I cancel a run?', '/cancel', 'docs/'],
  ['How large may a request be?', '10 MB', 'docs/'],
  ['Which file formats can be ingested?', 'Markdown, HTML', 'docs/knowledge.md'],
  ['How do I delete a session?', 'DELETE', 'docs/'],
  ['Where is my data stored?', '.agentserve', 'docs/'],
  ['How do I protect the server with an API key?', 'AGENTSERVE_API_KEYS', 'docs/'],
  ['What happens when the client disconnects?', 'client_disconnected', 'docs/'],
  ['How do I give an agent tools?', 'tool', 'docs/'],
  ['How do I use Ollama?', 'ollama/', 'docs/'],
  ['Is anything lost after a crash?', 'interrupted', 'docs/'],
  ['How do I resume a stream?', 'Last-Event-ID', 'docs/'],
  ['Which Node version do I need?', '22.19', 'docs/'],
  ['What does exit code 2 mean?', 'called wrongly', 'docs/cli.md'],
  ['How do I create a new project?', 'npm create agentserve', 'docs/'],
  ['How can another agent call my agent?', '/api/v1/a2a', 'docs/a2a.md'],
  ['How do I connect Open WebUI to my agents?', 'OPENAI_API_BASE_URL', 'docs/openai.md'],
  ['Who approves tool calls of an MCP host?', 'its own call', 'docs/mcp-server.md'],
  ['How do I embed the server in my own program?', 'createServer', ''],
]

test.each(questions)('the documents answer: %s', async (question, words, source) => {
  const { content, sources } = await post('/api/v1/agents/docs/run', { input: question })
  expect(content).toContain(words)
  expect((sources as { source: string }[]).map((item) => item.source)).toContainEqual(expect.stringContaining(source))
})
