import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  bin,
  command,
  createProject,
  environment,
  launch,
  type Project,
  type RunningServer,
  serve,
} from '../../support/program.ts'

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    echo: agent({ async *run({ text }) { for (const word of text.split(/(?<=\\s)/)) yield word } }),
    quotes: agent({
      *run() {
        yield { type: 'source', index: 1, source: 'docs/a.md', document_id: 'd1', chunk_id: 'c1', line_start: 3, line_end: 9 }
        yield { type: 'source', index: 2, source: 'docs/b.md', document_id: 'd2', chunk_id: 'c2', line_start: 5, line_end: 6 }
        yield 'So it is.\\n\\n[1] docs/a.md:3'
      },
    }),
    fails: agent({ async run() { throw new Error('no') } }),
    tools: agent({
      async *run() {
        yield { type: 'tool_call', call_id: 'c1', name: 'weather', input: { city: 'Bern' } }
        yield { type: 'tool_result', call_id: 'c1', name: 'weather', output: 21, duration_ms: 12 }
        yield { type: 'tool_result', call_id: 'c2', name: 'news', error: { message: 'no news\\u001b]0;owned\\u0007' }, duration_ms: 3 }
        yield 'Warm.\\u001b[2J'
      },
    }),
    waits: agent({
      async *run({ signal }) {
        yield 'before '
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      },
    }),
  },
})
`

let project: Project
let server: RunningServer
beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  server = await serve(project, 'start')
})
afterAll(async () => {
  await server.stop()
  await project.remove()
})

interface Started {
  run_id: string
  session_id: string
}

async function start(agentId: string, body: object): Promise<Started> {
  const answer = await fetch(`${server.url}/api/v1/agents/${agentId}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const json = (await answer.json()) as Started & { error: Started }
  return { run_id: json.run_id ?? json.error.run_id, session_id: json.session_id ?? json.error.session_id }
}

const runs = (...args: string[]) => command(project, ['runs', ...args])

async function listed(...args: string[]): Promise<Record<string, unknown>[]> {
  const { stdout, code } = await runs('list', '--json', ...args)
  expect(code).toBe(0)
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

describe('runs list', () => {
  test('shows the newest first, all of them, those of a filter, and page by page', async () => {
    const first = await start('echo', { input: 'one' })
    const failed = await start('fails', { input: 'two', session_id: first.session_id })
    const other = await start('echo', { input: 'three' })
    const ids = (items: Record<string, unknown>[]) => items.map((run) => run.run_id)
    expect(ids(await listed()).slice(0, 3)).toEqual([other.run_id, failed.run_id, first.run_id])
    expect(ids(await listed('--session', first.session_id))).toEqual([failed.run_id, first.run_id])
    expect(ids(await listed('--session', first.session_id, '--status', 'failed'))).toEqual([failed.run_id])
    expect(ids(await listed('--session', first.session_id, '--agent', 'echo'))).toEqual([first.run_id])
    expect(await listed('--team', 'nobody')).toEqual([])

    const page = await runs('list', '--limit', '1')
    expect(page.stdout).toMatch(/^RUN +AGENT +STATUS .*\n/)
    expect(page.stdout).toContain(other.run_id)
    const cursor = /--cursor (\S+)/.exec(page.stderr)?.[1] ?? ''
    expect((await runs('list', '--limit', '1', '--cursor', cursor)).stdout).toContain(failed.run_id)
  })

  test('says what was called wrongly', async () => {
    expect(await runs('list', 'x')).toMatchObject({ code: 2, stdout: '' })
    expect((await runs('list', '--status', 'lost')).code).toBe(2)
    expect((await runs('list', '--limit', '0')).code).toBe(2)
    expect(await runs('list', '--cursor', 'x')).toMatchObject({ code: 2, stdout: '' })
    expect(await runs('show')).toMatchObject({ code: 2, stderr: expect.stringContaining('needs the id of a run') })
    expect(await runs('tail', 'run_none', '--status', 'failed')).toMatchObject({ code: 2 })
  })

  test('ends quietly when its reader has gone', async () => {
    for (let count = 0; count < 5; count++) await start('echo', { input: 'x' })
    const { stdout, stderr } = await promisify(execFile)(
      'sh',
      ['-c', `"${process.execPath}" "${bin}" runs list --json | head -1`],
      { cwd: project.folder, env: environment({}) },
    )
    expect(JSON.parse(stdout)).toMatchObject({ entity_id: 'echo' })
    expect(stderr).toBe('')
  })
})

describe('runs show', () => {
  test('tells status, time, tools, errors, input and output, and nothing that the terminal obeys', async () => {
    const { run_id: id, session_id: session } = await start('tools', { input: 'Weather?' })
    const { stdout, code } = await runs('show', id)
    expect(code).toBe(0)
    for (const part of [
      id,
      session,
      'completed',
      'weather  12 ms',
      'news  3 ms',
      '✗ news: no news',
      'Weather?',
      'Warm.',
    ])
      expect(stdout).toContain(part)
    expect(stdout).not.toContain('\u001b')
    expect(JSON.parse((await runs('show', id, '--json')).stdout)).toMatchObject({
      run_id: id,
      content: 'Warm.\u001b[2J',
    })
    const failed = await start('fails', { input: 'x' })
    expect((await runs('show', failed.run_id)).stdout).toMatch(/error +run_failed: The agent threw an error/)
  })

  test('lists the sources that the answer does not list itself', async () => {
    const { run_id: id } = await start('quotes', { input: 'Is it?' })
    const { stdout } = await runs('show', id)
    expect(stdout.match(/\[\d\] .*$/gm)).toEqual(['[1] docs/a.md:3', '[2] docs/b.md:5'])
  })

  test('leads to the run in the studio of the running server', async () => {
    const { run_id: id, session_id: session } = await start('echo', { input: 'x' })
    const studio = `${server.url}/studio/s/${session}/r/${id}`
    expect((await runs('show', id)).stdout).toContain(`\nstudio   ${studio}\n`)
    expect(JSON.parse((await runs('show', id, '--json')).stdout).studio_url).toBe(studio)
    expect((await runs('show', id, '--url', `${server.url}/`)).stdout).toContain(`\nstudio   ${studio}\n`)
    expect((await fetch(studio)).status).toBe(200)
    const shown = await command(project, ['sessions', 'show', session])
    expect(shown.stdout).toMatch(new RegExp(`\nstudio {2}${server.url}/studio/s/${session}\n$`))
    const json = JSON.parse((await command(project, ['sessions', 'show', session, '--json'])).stdout)
    expect(json.studio_url).toBe(`${server.url}/studio/s/${session}`)
  })

  test('gives the run as text with --as, from the server that runs', async () => {
    const { run_id: id } = await start('tools', { input: "it's warm" })
    const markdown = await runs('show', id, '--as', 'markdown')
    expect(markdown).toMatchObject({ code: 0, stderr: '' })
    expect(markdown.stdout).toMatch(
      /^# Run of the agent tools: completed\n.*### 1\. tool weather.*## Answer.*Warm\..*\n$/s,
    )
    expect((await runs('show', id, '--as', 'curl')).stdout).toBe(
      `curl '${server.url}/api/v1/agents/tools/run' \\\n  -H 'Content-Type: application/json' \\\n  -d '{"input":"it'\\''s warm"}'\n`,
    )
    expect((await runs('show', id, '--as', 'typescript')).stdout).toContain(`createClient({ url: "${server.url}" })`)
    expect((await runs('show', id, '--as', 'use-chat')).stdout).toContain(`api: "${server.url}/api/v1/chat/tools"`)
    expect(await runs('show', id, '--as', 'python')).toMatchObject({ code: 2, stdout: '' })
    for (const other of ['--json', '--events', '--why'])
      expect(await runs('show', id, '--as', 'curl', other)).toMatchObject({ code: 2, stdout: '' })
    expect(await runs('list', '--as', 'curl')).toMatchObject({ code: 2, stdout: '' })
    expect(await runs('show', 'run_none', '--as', 'curl')).toMatchObject({ code: 1, stdout: '' })
  })

  test('names the address of the config with --as, when no server runs', async () => {
    const alone = await createProject({ 'agent.config.ts': config })
    onTestFinished(() => alone.remove())
    const { stdout } = await command(alone, ['ask', 'hello', '--agent', 'echo', '--json'])
    const { run_id: id } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
    expect((await command(alone, ['runs', 'show', id, '--as', 'curl'])).stdout).toContain(
      "curl 'http://127.0.0.1:8080/api/v1/agents/echo/run'",
    )
  })

  test('tells every recorded event with --events', async () => {
    const { run_id: id } = await start('tools', { input: 'Weather?' })
    const { stdout } = await runs('show', id, '--events')
    expect(stdout).toMatch(/^ +2 .* tool_call +\{"call_id":"c1","name":"weather","input":\{"city":"Bern"\}\}$/m)
    const events = (await runs('show', id, '--events', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.map(({ type }) => type)).toEqual([
      'run_start',
      'tool_call',
      'tool_result',
      'tool_result',
      'text_delta',
      'run_end',
    ])
  })

  test('knows no run that there is not', async () => {
    for (const action of ['show', 'tail', 'cancel'])
      expect(await runs(action, 'run_none')).toMatchObject({
        code: 1,
        stdout: '',
        stderr: "There is no run 'run_none'.\n`agentserve runs` lists the runs.\n",
      })
  })
})

describe('runs tail and cancel', () => {
  test('follow a run while it goes on, and after its end', async () => {
    const { run_id: id } = await start('waits', { input: 'x', background: true })
    const tail = launch(project, ['runs', 'tail', id])
    while (!tail.stdout().includes('before ')) await once(tail.child.stdout as NodeJS.ReadableStream, 'data')
    const cancelled = await runs('cancel', id, '--reason', 'asked twice', '--json')
    expect(JSON.parse(cancelled.stdout)).toMatchObject({ run_id: id, status: 'cancelled' })
    const live = await tail.finished
    expect(live).toMatchObject({ code: 1, stderr: '' })
    expect(live.stdout).toMatch(/^before \n■ {2}cancelled \(asked twice\) {2}\d/)
    expect((await runs('tail', id)).stdout).toBe(live.stdout)
    expect(await runs('cancel', id)).toMatchObject({ code: 1, stderr: 'The run has already ended: cancelled.\n' })
  })

  test('leave the run alone at Ctrl-C', async () => {
    const { run_id: id } = await start('waits', { input: 'x', background: true })
    const tail = launch(project, ['runs', 'tail', id, '--json'])
    while (!tail.stdout().includes('before ')) await once(tail.child.stdout as NodeJS.ReadableStream, 'data')
    tail.child.kill('SIGINT')
    expect(await tail.finished).toMatchObject({ code: 130, stderr: '' })
    expect(JSON.parse((await runs('show', id, '--json')).stdout)).toMatchObject({ status: 'running' })
    expect((await runs('cancel', id)).stderr).toBe(`Cancelled ${id}.\n`)
  })

  test('go on when the server comes back, and tell what became of the run', async () => {
    const { run_id: id } = await start('waits', { input: 'x', background: true })
    const tail = launch(project, ['runs', 'tail', id])
    while (!tail.stdout().includes('before ')) await once(tail.child.stdout as NodeJS.ReadableStream, 'data')
    const { port } = new URL(server.url)
    await server.kill()
    server = await serve(project, 'start', ['--port', port])
    const end = await tail.finished
    expect(end.code).toBe(1)
    expect(end.stdout).toMatch(/^before \n■ {2}interrupted/)
  })
})
