import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  command,
  createProject,
  launch,
  type Project,
  type Running,
  type RunningServer,
  serve,
} from '../../support/program.ts'

const config = `
import { agent, defineConfig, tool } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
import { z } from 'zod'
const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => city + ': 21' })
let release
export default defineConfig({
  agents: {
    echo: agent({ async *run({ text }) { for (const word of text.split(/(?<=\\s)/)) yield word } }),
    fails: agent({ async run() { throw new Error('no') } }),
    asks: agent({
      model: scriptedModel(({ prompt }) =>
        prompt.at(-1).role === 'tool'
          ? 'Warm.\\u001b]0;owned\\u0007'
          : { tool_calls: [{ name: 'weather', input: { city: 'Bern' } }] },
      ),
      instructions: 'Be kind.',
      tools: { weather },
    }),
    reads: agent({ model: scriptedModel(() => 'At dusk [1].'), knowledge: { limit: 2 } }),
    slow: agent({ async *run() { yield 'one '; await new Promise((go) => { release = go }); yield 'two' } }),
    opens: agent({ run() { release?.(); return 'opened' } }),
  },
})
`

let project: Project
let server: RunningServer
beforeAll(async () => {
  project = await createProject({
    'agent.config.ts': config,
    'docs/a.md': '# The lighthouse\n\nThe lighthouse keeper lights the lamp at dusk.\n',
  })
  server = await serve(project, 'start')
  expect((await command(project, ['ingest', 'docs'])).code).toBe(0)
})
afterAll(async () => {
  await server.stop()
  await project.remove()
})

interface Started {
  run_id: string
  session_id: string
}

async function start(agentId: string, input: string, more: object = {}): Promise<Started> {
  const answer = await fetch(`${server.url}/api/v1/agents/${agentId}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input, ...more }),
  })
  const json = (await answer.json()) as Started & { error: Started }
  return json.run_id === undefined ? json.error : json
}

const sessions = (...args: string[]) => command(project, ['sessions', ...args])
const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

async function until(running: Running, text: string, stream: 'stdout' | 'stderr' = 'stdout'): Promise<void> {
  while (!running[stream]().includes(text)) await once(running.child[stream] as NodeJS.ReadableStream, 'data')
}

describe('sessions show', () => {
  test('tells the conversation with its runs, their times, tokens, tools and errors', async () => {
    const { run_id: first, session_id: session } = await start('asks', 'Weather?')
    const failed = await start('fails', 'And now?', { session_id: session })
    const { stdout, code, stderr } = await sessions('show', session)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      new RegExp(`^${first}  asks  completed  \\d{4}-.*  took \\d.*  \\d+ \\+ \\d+ tokens  –\\n  weather  \\d`),
    )
    expect(stdout).toContain('user\n  Weather?\nassistant\n  Warm.\n\n')
    expect(stdout).toMatch(new RegExp(`${failed.run_id}  fails  failed`))
    expect(stdout).toContain('✗ run_failed: The agent threw an error')
    expect(stdout).not.toContain('\u001b')
    const json = JSON.parse((await sessions('show', session, '--json')).stdout)
    expect(json.runs.map((run: Started) => run.run_id)).toEqual([first, failed.run_id])
    expect(linesOf((await sessions('show', session, '--limit', '1')).stdout)[0]).toContain(failed.run_id)
  })

  test('tells replaced runs with --replaced, and what replaced them', async () => {
    const { run_id: first, session_id: session } = await start('echo', 'wrong')
    const { run_id: next } = await start('echo', 'right', { session_id: session, replaces: first })
    const plain = await sessions('show', session)
    expect([plain.stdout.includes(next), plain.stdout.includes(first)]).toEqual([true, false])
    const heads = linesOf((await sessions('show', session, '--replaced')).stdout).filter((line) => /^run_/.test(line))
    expect(heads).toMatchObject([
      expect.stringMatching(new RegExp(`^${first} .*  replaced by ${next}$`)),
      expect.not.stringContaining('replaced'),
    ])
    const json = JSON.parse((await sessions('show', session, '--replaced', '--json')).stdout)
    expect(json.runs.map((run: { replaced_by: string }) => run.replaced_by)).toEqual([next, null])
    expect((await sessions('list', '--replaced')).code).toBe(2)
    expect((await command(project, ['runs', 'show', first])).stdout).toContain(`  replaced by ${next}\n`)
    const rows = linesOf((await command(project, ['runs', 'list', '--session', session])).stdout)
    expect(rows.find((row) => row.startsWith(first))).toContain(`completed, replaced by ${next}`)
    expect(rows.find((row) => row.startsWith(next))).not.toContain('replaced')
  })

  test('tells every event of its runs with --events', async () => {
    const { run_id: id, session_id: session } = await start('asks', 'Weather?')
    const text = (await sessions('show', session, '--events')).stdout
    expect(text).toMatch(/ tool_call +\{.*"city":"Bern"/)
    const events = linesOf((await sessions('show', session, '--events', '--json')).stdout).map((line) =>
      JSON.parse(line),
    )
    expect(new Set(events.map(({ run_id }) => run_id))).toEqual(new Set([id]))
    expect(events.map(({ type }) => type)).toContain('tool_result')
  })

  test('tells with --why what each model call was told and gave, as runs show does', async () => {
    const { run_id: id, session_id: session } = await start('asks', 'Weather?')
    const { stdout, code } = await sessions('show', session, '--why', id)
    expect(code).toBe(0)
    for (const part of [
      'call 1  ',
      'tools     weather',
      '  system\n    Be kind.\n  user\n    Weather?\n',
      '→ weather {"city":"Bern"}',
      '← Bern: 21',
      'call 2  ',
      '  first text ',
      '(the first 2 messages as in the call before)',
      '    Warm.',
    ])
      expect(stdout).toContain(part)
    expect(stdout).not.toContain('\u001b')
    expect((await command(project, ['runs', 'show', id, '--why'])).stdout).toBe(stdout)
    const calls = linesOf((await sessions('show', session, '--why', id, '--json')).stdout).map((line) =>
      JSON.parse(line),
    )
    expect(calls).toMatchObject([
      { messages: [{ role: 'system', content: 'Be kind.' }, { role: 'user' }], tool_calls: [{ output: 'Bern: 21' }] },
      { messages: [{}, {}, { role: 'assistant' }, { role: 'tool' }], text: 'Warm.\u001b]0;owned\u0007' },
    ])
  })

  test('names the passages with their scores', async () => {
    const { run_id: id } = await start('reads', 'When does the lighthouse keeper light the lamp?')
    const { stdout } = await command(project, ['runs', 'show', id, '--why'])
    expect(stdout).toMatch(
      /searched {2}When does .*\n +1 of 1 passage {2}\d+ ms {2}hybrid {2}limit 2 {2}collection default\n/,
    )
    expect(stdout).toMatch(/words +.*lighthouse.*\n +fit +\d\.\d\d .*\n +of 1 chunks?: lighthouse 1, .*\n/)
    expect(stdout).toMatch(/\n {4}# +RANK {2}SCORE {2}KEYWORD +STATIC +LEXICAL +WHERE\n/)
    expect(stdout).toMatch(
      /\n {4}\[1\] {2}1 +\d\.\d{3} {2}1 \(0\.\d\d\) {2}1 \(0\.\d\d\) {2}1 \(0\.\d\d\) {2}docs\/a\.md:\d/,
    )
    expect((await command(project, ['runs', 'show', id])).stdout).toMatch(
      /\nsearched "When does .*" {2}1 of 1 passage {2}\d+ ms\n/,
    )
    expect(stdout).toContain('The lighthouse keeper lights the lamp at dusk.')
    expect((await command(project, ['runs', 'show', (await start('echo', 'x')).run_id, '--why'])).stderr).toBe(
      'The run called no model.\n',
    )
  })

  test('has no other session and no run of another one', async () => {
    const first = await start('echo', 'one')
    const other = await start('echo', 'two')
    expect(await sessions('show', 'ses_none')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: "There is no session 'ses_none'.\n`agentserve sessions` lists the sessions.\n",
    })
    expect(await sessions('show')).toMatchObject({ code: 2, stdout: '' })
    expect(await sessions('show', first.session_id, '--why', other.run_id)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `There is no run '${other.run_id}'.\n\`agentserve runs\` lists the runs.\n`,
    })
  })
})

describe('sessions tail', () => {
  test('follows each new run and its fragments until Ctrl-C', async () => {
    const { session_id: session } = await start('echo', 'long ago')
    const tail = launch(project, ['sessions', 'tail', session])
    await until(tail, 'Following', 'stderr')
    const slow = await start('slow', 'How?', { session_id: session, background: true })
    await until(tail, `${slow.run_id}  slow  `)
    await until(tail, '> How?\none ')
    await start('opens', 'x')
    await until(tail, 'two\n■  completed')
    const next = await start('asks', 'Weather?', { session_id: session })
    await until(tail, `${next.run_id}  asks`)
    await until(tail, '→ weather {"city":"Bern"}\n← weather')
    await until(tail, 'Warm.\n■  completed')
    tail.child.kill('SIGINT')
    const { code, stdout } = await tail.finished
    expect(code).toBe(130)
    expect(stdout).not.toContain('long ago')
    expect(stdout.match(/^run_/gm)).toHaveLength(2)
  })

  test('gives one event a line as JSON, goes on when the server comes back, and ends with its reader', async () => {
    const { session_id: session } = await start('echo', 'first')
    const tail = launch(project, ['sessions', 'tail', session, '--json'])
    const slow = await start('slow', 'How?', { session_id: session, background: true })
    await until(tail, '"one "')
    const { port } = new URL(server.url)
    await server.kill()
    server = await serve(project, 'start', ['--port', port])
    await until(tail, '"status":"interrupted"')
    const next = await start('echo', 'after all', { session_id: session })
    await until(tail, '"after ')
    await until(tail, '"completed"')
    const events = linesOf(tail.stdout()).map((line) => JSON.parse(line))
    expect([...new Set(events.map(({ run_id }) => run_id))]).toEqual([slow.run_id, next.run_id])
    tail.child.stdout?.destroy()
    await start('echo', 'nobody reads this', { session_id: session })
    expect(await tail.finished).toMatchObject({ code: 0, stderr: '' })
  })

  test('follows no session that there is not', async () => {
    expect(await sessions('tail', 'ses_none')).toMatchObject({ code: 1, stdout: '' })
    expect(await sessions('tail')).toMatchObject({ code: 2 })
  })
})
