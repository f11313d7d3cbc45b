import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { command, createProject, type Project } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'

let project: Project
let terminal: Pty | undefined
let ollama: Server | undefined

afterEach(async () => {
  await terminal?.close()
  await project.remove()
  ollama?.close()
  terminal = ollama = undefined
})

async function dev(config: string, env: Record<string, string> = {}): Promise<Pty> {
  project = await createProject({ 'agent.config.ts': config })
  terminal = openPty(project, ['dev', '--port', '0'], { columns: 160, env })
  await terminal.until('q quit')
  return terminal
}

function run(agent: string): Promise<Response> {
  const url = /api +(http\S+)/.exec(terminal?.text() ?? '')?.[1]
  const headers = { 'content-type': 'application/json' }
  return fetch(`${url}/agents/${agent}/run`, { method: 'POST', headers, body: '{"input":"hi"}' })
}

async function openOllama(models: string[]): Promise<string> {
  return listen((_, response) => response.end(JSON.stringify({ models: models.map((name) => ({ name })) })))
}

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  ollama = server
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const withModel = (model: string) => `import { agent } from 'agentserve'
export default { model: '${model}', agents: { docs: agent({}) } }\n`

test('a failure inside a run is shown once, with its place, in the block of the run', async () => {
  const pty = await dev(`import { agent, defineConfig, workflow } from 'agentserve'
export default defineConfig({
  agents: { breaks: agent({ async *run() { throw new Error('It broke here.') } }) },
  workflows: {
    asks: workflow({ run: async ({ ask }) => (await ask('breaks', 'x')).text }),
    copes: workflow({ run: ({ ask }) => ask('breaks', 'x').then(({ text }) => text, () => 'fine') }),
  },
})\n`)
  expect((await run('asks')).status).toBe(500)
  await pty.until(
    /^failed {5}asks .*\n {2}run_failed: The agent threw an error \(Error\)\.\n {2}↳ breaks: It broke here\.\n {2}at agent\.config\.ts:3\n/m,
  )
  await pty.until(/> 3 \|/)
  expect((await run('copes')).status).toBe(200)
  await pty.until(/^completed {2}copes .*\n {2}↳ breaks: It broke here\.\n {2}at agent/m)
  expect(pty.text().match(/It broke here\.$/gm)).toHaveLength(2)
  expect(pty.text()).not.toMatch(/warning|log has/)
})

test('a server that is told to stop says for which run it waits, and ends at the second Ctrl-C', async () => {
  const pty = await dev(`import { agent } from 'agentserve'
export default { agents: { gen: agent({ async *run() { yield 'a'; await new Promise((end) => setTimeout(end, 60_000)) } }) } }\n`)
  run('gen').catch(() => {})
  const url = /api +(http\S+)/.exec(pty.text())?.[1]
  await expect.poll(async () => ((await (await fetch(`${url}/runs`)).json()) as { count: number }).count).toBe(1)
  pty.send('\x03')
  await pty.until('Stopping: waiting up to 10 s for 1 run (gen); Ctrl-C again ends it.')
  pty.send('\x03')
  expect(await pty.exited).toMatchObject({ code: 130 })
})

test('dev warns of a model that is not there, at the start and after an edit, with the cure', async () => {
  const env = { OLLAMA_HOST: await openOllama(['qwen3:8b']) }
  const pty = await dev(withModel('ollama/llama4'), env)
  await pty.until(
    "warning: the model ollama/llama4 of docs: Ollama does not have 'llama4'. To mend it: ollama pull llama4",
  )
  await project.write('agent.config.ts', withModel('ollama/qwen3:8b'))
  await pty.until(/Reloaded/)
  await project.write('agent.config.ts', withModel('openai/gpt-5'))
  await pty.until(
    /warning: the model openai\/gpt-5 of docs: needs the package @ai-sdk\/openai\. To mend it: npm install @ai-sdk\/openai/,
  )
  expect(pty.text().match(/warning/g)).toHaveLength(2)
})

test('dev is ready, and ends, while a model server keeps silent', async () => {
  const pty = await dev(withModel('ollama/qwen3:8b'), { OLLAMA_HOST: await listen(() => {}) })
  expect(pty.text()).not.toContain('warning')
  pty.send('\x03')
  expect(await pty.exited).toMatchObject({ code: 130 })
  ollama?.closeAllConnections()
})

test('doctor warns of a model server that is not running', async () => {
  project = await createProject({ 'agent.config.ts': withModel('ollama/qwen3:8b') })
  const { stdout, code } = await command(project, ['doctor', '--json'], '', { OLLAMA_HOST: '127.0.0.1:1' })
  expect(code).toBe(0)
  expect(stdout).toContain(
    '{"check":"model","state":"warning","message":"ollama/qwen3:8b for docs: Ollama is not running at http://127.0.0.1:1","fix":"start it: ollama serve"}',
  )
})
