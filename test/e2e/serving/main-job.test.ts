import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project, type RunningServer, root, serve } from '../../support/program.ts'

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    docs: agent({ instructions: 'Answer from the passages.', knowledge: true }),
    echo: agent({ sideEffects: false, async *run({ text }) { for (const word of text.split(/(?<=\\\\s)/)) yield word } }),
    recall: agent({ async *run({ history }) { yield (await history()).map((message) => message.content).join(' | ') } }),
  },
})
`

const questions = {
  markdown: {
    text: 'During quiet hours, when are watch alerts delivered?',
    answer: 'watch alerts wait until the early morning',
    source: 'docs/alerts.md',
  },
  html: {
    text: 'How long is the waiting time when an account is deleted?',
    answer: 'thirty days',
    source: 'docs/data-and-privacy.html',
  },
}

let project: Project
let server: RunningServer

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  await project.copy(join(root, 'test/fixtures/docs'), 'docs')
  server = await serve(project)
})

afterAll(async () => {
  await server?.stop()
  await project?.remove()
})

async function run(...args: string[]) {
  const end = await command(project, args)
  expect(end, `${args.join(' ')}: ${end.stderr}`).toMatchObject({ code: 0 })
  return end
}

test('serves the agents of the config and writes where it is', async () => {
  const { agents } = (await (await fetch(`${server.url}/api/v1/agents`)).json()) as { agents: { id: string }[] }
  expect(agents.map((agent) => agent.id)).toEqual(['docs', 'echo', 'recall'])
  const hint = JSON.parse(await project.read('.agentserve/server.json')) as Record<string, unknown>
  expect(hint).toMatchObject({ pid: server.child.pid, url: server.url })
})

async function ingest(): Promise<Record<string, number>> {
  const lines = (await run('ingest', './docs', '--json')).stdout.trim().split('\n')
  const outcomes = lines.map((line) => (JSON.parse(line) as { outcome: string }).outcome)
  return Object.fromEntries(
    Object.entries(Object.groupBy(outcomes, (outcome) => outcome)).map(([name, all]) => [name, all?.length ?? 0]),
  )
}

test('ingests Markdown and HTML, and again only what changed', async () => {
  expect(await ingest()).toEqual({ added: 6 })
  expect(await ingest()).toEqual({ unchanged: 6 })
  await project.write(
    'docs/alerts.md',
    (await project.read('docs/alerts.md')).replace('the morning', 'the early morning'),
  )
  expect(await ingest()).toEqual({ unchanged: 5, replaced: 1 })
})

test('answers from the documents and cites the right one', async () => {
  const { stdout } = await run('chat', 'docs', '--message', questions.markdown.text)
  expect(stdout).toContain(questions.markdown.answer)
  expect(stdout).toMatch(new RegExp(`\\[1\\] ${questions.markdown.source}:\\d+`))
  const html = await run('chat', 'docs', '--message', questions.html.text)
  expect(html.stdout).toContain(questions.html.answer)
  expect(html.stdout).toMatch(new RegExp(`\\[1\\] ${questions.html.source}`))
})

test('goes on with the conversation after the server was killed', async () => {
  const session = 'trip'
  await run('chat', 'echo', '--session', session, '--message', 'remember the blue door')
  const shown = await run('sessions', 'show', session)
  expect(shown.stdout).toContain('remember the blue door')
  expect((await run('sessions', 'list', '--json')).stdout).toContain(session)
  await server.kill()
  server = await serve(project)
  expect((await run('sessions', 'show', session)).stdout).toContain('remember the blue door')
  const { stdout } = await run('chat', 'recall', '--session', session, '--message', 'what did I say?')
  expect(stdout).toContain('remember the blue door | remember the blue door')
})

test('refuses a second server on the same data folder, with the way out', async () => {
  const second = await command(project, ['dev', '--port', '0'])
  expect(second.code).toBe(1)
  expect(second.stderr).toContain(server.url)
})

test('names the port, not the folder, when a port that was asked for is taken', async () => {
  const port = new URL(server.url).port
  const second = await command(project, ['dev', '--port', port, '--data', 'elsewhere'])
  expect(second).toMatchObject({ code: 1, stdout: '' })
  expect(second.stderr).toContain(`Can't listen on 127.0.0.1:${port}`)
})

test('works without a server too, on the same data', async () => {
  await server.stop()
  expect((await run('sessions', 'show', 'trip')).stdout).toContain('remember the blue door')
  expect((await run('agents', '--json')).stdout).toContain('recall')
  const { stdout } = await run('search', questions.markdown.text, '--json')
  expect(stdout).toContain(questions.markdown.source)
  server = await serve(project, 'start')
})
