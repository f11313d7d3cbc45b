import { execFile } from 'node:child_process'
import { readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project, type RunningServer, root, serve } from '../support/program.ts'
import { openScriptedServer } from '../support/scripted-server.ts'

interface Block {
  /** `docs/agents.md:14`, where it begins. */
  place: string
  language: string
  text: string
  /** What follows it in the document. */
  after: string
}

const guides = [
  'README.md',
  ...(await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
]
const texts = new Map(
  await Promise.all(guides.map(async (name) => [name, await readFile(join(root, name), 'utf8')] as const)),
)
const blocks = [...texts].flatMap(([name, text]) => findBlocks(name, text))

function findBlocks(name: string, text: string): Block[] {
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map((match) => ({
    place: `${name}:${text.slice(0, match.index).split('\n').length}`,
    language: match[1] ?? '',
    text: match[2] ?? '',
    after: text.slice(match.index + match[0].length),
  }))
}

const configs = blocks.filter(({ language, text }) => language === 'ts' && text.includes('export default defineConfig'))
const tests = blocks.filter(({ language, text }) => language === 'ts' && text.includes("from 'node:test'"))
const programs = blocks.filter(
  (block) => block.language === 'ts' && !configs.some(({ text }) => text === block.text) && !tests.includes(block),
)
const shell = blocks.filter(({ language }) => language === 'sh')
const curls = shell.flatMap(({ place, text, after }) =>
  commandsOf(text, 'curl ').map((line) => ({ place, line, ...promised(line, after) })),
)
// Servers, projects and installations of their own are other tests' business; a chat without a message waits for stdin.
const calls = shell
  .flatMap(({ place, text }) => commandsOf(text, 'npx agentserve ').map((line) => ({ place, line: line.trim() })))
  .filter(({ line }) => !/agentserve (?:dev|start|init)\b|--embedder|--watch/.test(line))

/** The commands of a block that begin so, over as many lines as their quotes and backslashes take, without comments. */
function commandsOf(text: string, start: string): string[] {
  return [...text.matchAll(new RegExp(`^${start}(?:'[^']*'|"[^"]*"|\\\\\\n|[^'"\\n\\\\#])*`, 'gm'))].map(
    ([line]) => line,
  )
}

/** The status and the JSON that the text after a command shows for it, up to the next heading. */
function promised(line: string, after: string): { status: number; shape: unknown } {
  const section = after.split(/^#/m)[0] ?? ''
  const status = Number(/answer is (2\d\d)/.exec(section)?.[1] ?? 200)
  // History shows one message of its answer.
  const json = /\/history|\/stream/.test(line) ? undefined : /^```json\n(.*?)^```$/ms.exec(section)?.[1]
  return { status, shape: json === undefined ? undefined : JSON.parse(json) }
}

let project: Project
let server: RunningServer

beforeAll(async () => {
  project = await createProject({ 'guide.md': '# Guide\n\nHello.\n', 'note.txt': 'A note.\n' })
  for (const [name, text] of texts) await project.write(name, text)
  await project.copy(join(root, 'agent.config.ts'), 'example.ts')
  await project.write('report.ts', configs.find(({ text }) => text.includes('report: workflow('))?.text ?? '')
  await project.write('agent.config.ts', served)
  server = await serve(project)
  await finish('ingest', 'docs', 'README.md')
})

/** What this repository serves, the workflow of the guides, a run that goes on until it is cancelled, and one that asks. */
const served = `
import { agent } from 'agentserve'
import example from './example.ts'
import report from './report.ts'
const waits = agent({ async *run({ signal }) { await new Promise((done) => signal.addEventListener('abort', done)) } })
const asks = agent({ *run({ resumed }) { yield resumed ? 'thanks' : { type: 'input_required', call_id: 'may', prompt: 'May I?' } } })
export default { ...example, agents: { ...example.agents, waits, asks }, workflows: report.workflows }
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
  const env = { MY_KEY: 'a-key-of-this-test' }
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

test.each(programs)('the program of $place serves and stops', async ({ text }) => {
  const own = await createProject()
  try {
    const free = text.replace(/createServer\(\{ (?:address: '[^']*', )?/, "createServer({ address: '127.0.0.1:0', ")
    const stopping = 'server.ready.then(() => server.shutdown())\nawait server.start()'
    await own.write('program.ts', free.replace('await server.start()', stopping))
    const run = promisify(execFile)(process.execPath, ['program.ts'], { cwd: own.folder })
    await expect(run).resolves.toMatchObject({ stdout: '' })
  } finally {
    await own.remove()
  }
})

test.each(tests)('the test of $place passes, with recordings when it has some', async ({ place, text }) => {
  const endpoint = await openScriptedServer((_request, response) => {
    const choices = [{ index: 0, delta: { content: 'It is noon.' }, finish_reason: 'stop' }]
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`data: ${JSON.stringify({ id: '1', created: 1, model: 'm', choices })}\n\ndata: [DONE]\n\n`)
  })
  const config = configs.find((block) => block.place.startsWith(place.replace(/:.*/, ':')))?.text ?? ''
  const own = await createProject({ 'agent.config.ts': config, 'test/agents.test.ts': text })
  const { PATH = '', HOME = '' } = process.env
  const node = (env: Record<string, string>) =>
    promisify(execFile)(process.execPath, ['--test'], { cwd: own.folder, env: { PATH, HOME, ...env } })
  try {
    if (text.includes('recordedModel')) await node({ AGENTSERVE_RECORD: '1', OLLAMA_HOST: endpoint.url })
    await endpoint.close()
    await expect(node({ OLLAMA_HOST: endpoint.url })).resolves.toMatchObject({ stderr: '' })
  } finally {
    await own.remove()
  }
})

test.each(curls)('$place gets the answer that the text shows: $line', async ({ place, line, status, shape }) => {
  const request = toRequest(await withRealIds(line))
  const answer = await fetch(server.url + request.path, request)
  const text = await answer.text()
  expect(answer.status, `${place}: ${text}`).toBe(status)
  if (shape !== undefined) expect(outline(JSON.parse(text), shape), place).toEqual(outline(shape, shape))
})

/** The line, with ids that exist in place of those that the documents show. */
async function withRealIds(line: string): Promise<string> {
  let real = line
  if (/\bses_\w+/.test(line) || /\brun_\w+/.test(line)) {
    const cancels = /[/ ]cancel\b/.test(line)
    const input = { input: 'hello there', background: cancels }
    const agentId = cancels ? 'waits' : line.includes('/resume') ? 'asks' : 'echo'
    const run = await post(`/api/v1/agents/${agentId}/run`, input)
    real = real.replace(/\bses_\w+/, String(run.session_id)).replace(/\brun_\w+/, String(run.run_id))
  }
  if (/\bdoc_\w+/.test(line)) {
    const document = await post('/api/v1/knowledge/content', { content: 'To be deleted.', source: 'deleted.txt' })
    real = real.replace(/\bdoc_\w+/, String(document.document_id))
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
  const files: Record<string, string> = { 'guide.md': '# Guide\n\nHello.\n', 'note.txt': 'A note.\n' }
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? ''
    const value = () => words[++at] ?? ''
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
    } else if (!['-i', '-N'].includes(word)) throw new Error(`What does curl's ${word} do in ${line}?`)
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

test.each(calls)('$place: $line', async ({ line }) => {
  const words = [...(await withRealIds(line)).matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  )
  await finish(...words.slice(words.indexOf('agentserve') + 1))
})

const questions: [question: string, words: string, source: string][] = [
  ['What is the default request timeout?', '30 seconds', 'docs/configuration.md'],
  ['How do I set the port?', '--port', 'docs/cli.md'],
  ['How do I cancel a run?', '/cancel', 'docs/'],
  ['How large may a request be?', '10 MB', 'docs/'],
  ['Which file formats can be ingested?', 'markdown', 'docs/knowledge.md'],
  ['How do I delete a session?', 'sessions delete', 'docs/cli.md'],
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
  ['How do I embed the server in my own program?', 'createServer', ''],
]

test.each(questions)('the documents answer: %s', async (question, words, source) => {
  const { content, sources } = await post('/api/v1/agents/docs/run', { input: question })
  expect(content).toContain(words)
  expect((sources as { source: string }[]).map((item) => item.source)).toContainEqual(expect.stringContaining(source))
})
