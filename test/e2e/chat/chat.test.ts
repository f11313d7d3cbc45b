import { afterEach, beforeEach, expect, test } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openPty, type Pty, type PtyOptions } from '../../support/pty.ts'

let project: Project
let server: RunningServer
let terminal: Pty

const config = String.raw`
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, defineConfig, workflow } from 'agentserve'

/** Until the test has put the file there. */
async function wait(name, signal) {
  while (!existsSync(name)) await sleep(20, undefined, { signal })
}

export default defineConfig({
  agents: {
    say: agent({
      async *run({ text, signal }) {
        if (text === 'wait') {
          yield 'First part. '
          await wait('go', signal)
          yield 'Second part.'
        } else if (text === 'silent') await wait('never', signal)
        else if (text === 'tools') {
          yield 'Let me look.\n\n'
          yield { type: 'tool_call', call_id: 'c1', name: 'look', input: { at: 'it' } }
          await wait('go', signal)
          yield { type: 'tool_result', call_id: 'c1', name: 'look', output: 1, duration_ms: 12 }
          yield { type: 'source', index: 1, source: 'docs/a.md', document_id: 'd', chunk_id: 'c', line_start: 3 }
          yield 'It is **one**.'
        } else if (text === 'markdown') {
          yield '# Title\n\nA long paragraph with **bold** words that has to be wrapped on narrow terminals, and not on wide ones.\n\n'
          yield '| name | what it is |\n|---|---|\n| port | the one that it listens on |\n\n~~~ts\nconst port = 8080\n~~~\n'
        } else yield 'You said: ' + text
      },
    }),
  },
  workflows: {
    publish: workflow({
      async run({ step, approve }) {
        await step('draft', () => 'a draft')
        await approve('publish', { title: 'News' })
        return step('end', () => 'It is published.')
      },
    }),
  },
})
`

beforeEach(async () => {
  project = await createProject({ 'agent.config.ts': config })
  server = await serve(project, 'start')
})
afterEach(async () => {
  await terminal?.close()
  await server.stop()
  await project.remove()
})

/** `chat` in a terminal, once it takes keys. */
async function chat(args: string[], options: PtyOptions = {}): Promise<void> {
  terminal = openPty(project, ['chat', ...args], options)
  await terminal.until('Enter sends')
}

/** Types a message and sends it. */
async function say(text: string): Promise<void> {
  terminal.send(text)
  await terminal.until((pty) => pty.screen().some((line) => line.includes(`> ${text}`)))
  terminal.send('\r')
}

const idle = (pty: Pty) => pty.screen().some((line) => line.startsWith('Enter sends'))

test('streams the answer, with tools and sources as they come, and says how to go on', async () => {
  await chat(['say'])
  await say('tools')
  await terminal.until(/Let me look\.\n\n? *… look {"at":"it"}/)
  await terminal.until('Ctrl-C cancels')
  await project.write('go', '')
  await terminal.until(/✓ look {"at":"it"} 12 ms\n+It is one\.\n {2}\[1\] docs\/a\.md:3\n {2}\d/)
  await terminal.until(idle)
  terminal.send('/sources\r')
  await terminal.until(/\[1\] docs\/a\.md:3[\s\S]*\[1\] docs\/a\.md:3/)
  terminal.send('\x03')
  expect(await terminal.exited).toEqual({ code: 130, signal: 0 })
  expect(terminal.text()).toMatch(/Continue with: agentserve chat say --session ses_\w{26}$/)
  expect(terminal.raw().lastIndexOf('\x1b[?7h')).toBeGreaterThan(terminal.raw().lastIndexOf('\x1b[?7l'))
})

test('takes several lines, and shows the session again with --continue', async () => {
  await chat(['say'])
  terminal.send('one\x1b\r')
  terminal.send('two\\')
  await terminal.until('two\\')
  terminal.send('\r')
  await terminal.until((pty) => !pty.text().includes('two\\'))
  terminal.send('\x1b[200~three\nfour\n\x1b[201~')
  await terminal.until('four')
  terminal.send('five\r')
  await terminal.until('You said: one two three four five')
  await terminal.until(idle)
  terminal.send('\x04')
  await terminal.exited
  await terminal.close()
  await chat(['say', '--continue'])
  expect(terminal.text()).toMatch(/> one\n {2}two[\s\S]*You said: one two/)
  terminal.send('\x1b[A')
  await terminal.until(/You said[\s\S]*> one\n {2}two/)
})

test('cancels the run with Ctrl-C, one that has not said anything too, and leaves with the next', async () => {
  await chat(['say'])
  for (const text of ['wait', 'silent']) {
    await say(text)
    await terminal.until(text === 'wait' ? 'First part.' : /silent[\s\S]*Ctrl-C cancels/)
    if (text === 'silent') await running()
    terminal.send('\x03')
    await terminal.until(text === 'wait' ? /First part\.\n+ +Cancelled\./ : /silent[\s\S]*Cancelled\./)
    await terminal.until(idle)
  }
  const answer = await fetch(`${server.url}/api/v1/runs`)
  const { runs } = (await answer.json()) as { runs: { status: string }[] }
  expect(runs.map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
  terminal.send('\x03')
  expect(await terminal.exited).toEqual({ code: 130, signal: 0 })
})

async function running(): Promise<void> {
  const count = async () => {
    const answer = await fetch(`${server.url}/api/v1/runs?status=running`)
    return ((await answer.json()) as { count: number }).count
  }
  await expect.poll(count, { timeout: 10_000, interval: 20 }).toBeGreaterThan(0)
}

test.each([
  ['y', 'It is published.'],
  ['no, not yet', 'was not approved: not yet'],
])('asks what a run waits for, and goes on with %s', async (answer, outcome) => {
  await chat(['publish'])
  await say('go')
  await terminal.until(/✓ draft/)
  await terminal.until(/publish[\s\S]*{"title":"News"}[\s\S]*y or n>/)
  terminal.send('perhaps\r')
  await terminal.until('y for yes, n for no')
  terminal.send(`${answer}\r`)
  await terminal.until(outcome)
  await terminal.until(idle)
})

test('goes on with a workflow whose server was killed and started again', async () => {
  await chat(['publish'])
  await say('go')
  await terminal.until('y or n>')
  const { port } = new URL(server.url)
  await server.kill()
  server = await serve(project, 'start', ['--port', port])
  terminal.send('y\r')
  await terminal.until('It is published.')
})

test('finds its way back after the server was killed in the middle of an answer', async () => {
  await chat(['say'])
  await say('wait')
  await terminal.until('First part.')
  await server.kill()
  await terminal.until(/First part\.\n+The run was interrupted because the server stopped/)
  await terminal.until(idle)
  await say('good day')
  await terminal.until('You said: good day')
  server = await serve(project, 'start')
  await say('hello')
  await terminal.until('You said: hello')
  expect(terminal.text().match(/First part/g)).toHaveLength(1)
})

test.each([40, 120])('fits %i columns, and a terminal that is made narrower and wider', async (columns) => {
  await chat(['say'], { columns, rows: 24, env: { NO_COLOR: '1' } })
  await say('markdown')
  await terminal.until('const port = 8080')
  await terminal.until(idle)
  expect(terminal.text()).toContain('name │ what it is')
  const paragraph = /A long paragraph[\s\S]*?wide ones\./.exec(terminal.text())?.[0].split('\n') ?? []
  expect(paragraph).toHaveLength(columns === 40 ? 3 : 1)
  expect(
    terminal
      .raw()
      .split('\x1b')
      .filter((part) => /^\[(?:3|9)[0-7]m/.test(part)),
  ).toEqual([])
  for (const width of [30, 90]) {
    terminal.resize(width, 20)
    await say(`x${width}`)
    await terminal.until(`You said: x${width}`)
    await terminal.until(idle)
    expect(terminal.screen().filter((line) => line.startsWith('Enter sends'))).toHaveLength(1)
  }
})

test('runs commands, and says what fails', async () => {
  await chat(['say'])
  await say('hello')
  await terminal.until('You said: hello')
  await terminal.until(idle)
  terminal.send('/save talk.md\r')
  await terminal.until('Saved the conversation to talk.md.')
  expect(await project.read('talk.md')).toMatch(/## You\n\nhello\n\n## Answer\n\nYou said: hello\n/)
  terminal.send('/save talk.md\r')
  await terminal.until('talk.md already exists')
  terminal.send('/new\r')
  await terminal.until('Started a new session.')
  terminal.send('/sessions\r')
  await terminal.until(/1 {2}.*say · 1 run · hello/)
  terminal.send('/switch 1\r')
  await terminal.until(/Session ses_\w+\n\n> hello/)
  terminal.send('/summary\r')
  await terminal.until('Summarising…')
  await terminal.until(idle)
  terminal.send('/agent\r')
  await terminal.until('publish · workflow')
  terminal.send('/agent nobody\r')
  await terminal.until('no agent')
  terminal.send('/nothing\r')
  await terminal.until('Unknown command /nothing.')
  terminal.send('/clear\r')
  await terminal.until((pty) => !pty.text().includes('Unknown command') && idle(pty))
})
