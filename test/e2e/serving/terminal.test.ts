import { chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createProject, type Project, serve } from '../../support/program.ts'
import { openPty, type Pty, type PtyOptions } from '../../support/pty.ts'

let project: Project
let terminal: Pty

beforeEach(async () => {
  project = await createProject({
    'agent.config.ts': `
import { agent, defineConfig } from 'agentserve'
import { say } from './say.ts'
export default defineConfig({
  agents: {
    hello: agent({
      async *run({ text }) {
        if (text === 'fail') say(undefined)
        yield { type: 'tool_call', call_id: 'c1', name: 'look', input: {} }
        yield { type: 'tool_result', call_id: 'c1', name: 'look', output: 'x', duration_ms: 1 }
        yield say(text)
      },
    }),
  },
})
`,
    'say.ts': sayFile('The port is 8080 by default.'),
  })
})
afterEach(async () => {
  await terminal?.close()
  await project.remove()
})

function sayFile(answer: string): string {
  return `export function say(text?: string): string {\n  return text!.length > 0 ? '${answer}' : ''\n}\n`
}

/** `dev` in a terminal, once it takes keys. */
async function dev(args: string[] = [], options: PtyOptions = {}): Promise<void> {
  terminal = openPty(project, ['dev', '--port', '0', ...args], options)
  await terminal.until('q quit')
}

async function ask(input: string): Promise<Response> {
  const url = /api +(http\S+)/.exec(terminal.text())?.[1]
  const headers = { 'content-type': 'application/json' }
  return fetch(`${url}/agents/hello/run`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ input, session_id: undefined }),
  })
}

test('says what is served, and each run in one line', async () => {
  await dev([], { columns: 160 })
  for (const row of [/config +agent\.config\.ts/, /serving +hello/, /docs +http:\S+\/docs/, /knowledge +empty/]) {
    await terminal.until(row)
  }
  expect((await ask('hi')).status).toBe(200)
  await terminal.until(/^completed {2}hello {2}ses_\w{26} {2}first \d+ ms {2}total \d+ ms {2}look$/m)
})

test('shows where in the code a run failed, with the lines around, and that it failed', async () => {
  await dev([], { columns: 50 })
  expect((await ask('fail')).status).toBe(500)
  await terminal.until(/run failed error=Cannot read properties of undefined/)
  await terminal.until(/at say\.ts:2\n.*1 \| export function say.*\n *> 2 \| {3}return text!\.length/)
  await terminal.until(
    /^failed {5}hello {2}…\w{6} {2}total .*\n {2}run_failed: The agent threw an error \(TypeError\)/m,
  )
})

test('asks the last question again after an edit, and shows what changed', async () => {
  await dev([], { env: { NO_COLOR: '1' } })
  terminal.send('a')
  await terminal.until('There is no question to repeat yet.')
  await ask('which port?')
  await terminal.until('completed')
  await project.write('say.ts', sayFile('The port is 9090 by default.'))
  await terminal.until('Asking hello again: which port?')
  await terminal.until('  The port is [-8080-]{+9090+} by default.')
  terminal.send('a')
  await terminal.until('Stopped asking again.')
  terminal.send('a')
  await terminal.until('(the same answer as before)')
  expect(terminal.raw()).not.toContain('\x1b[3')
})

test('asks again from the start with --again, also what an earlier process was asked', async () => {
  await dev()
  await ask('which port?')
  terminal.send('q')
  expect(await terminal.exited).toMatchObject({ code: 0 })
  await dev(['--again'])
  await project.write('say.ts', sayFile('The port is 9090 by default.'))
  await terminal.until(/The port is 80809090 by default/)
  expect(terminal.raw()).toContain('\x1b[31m\x1b[9m8080\x1b[29m\x1b[39m\x1b[32m9090')
})

test('reloads, clears and stops by key, and leaves the terminal as it was', async () => {
  await dev()
  terminal.send('\x1a')
  terminal.send('r')
  await terminal.until(/Reloaded in \d+ ms\./)
  terminal.send('\x1b[A')
  terminal.send('c')
  await terminal.until((pty) => pty.screen()[0]?.includes('q quit') === true && !pty.text().includes('Reloaded'))
  await project.write('say.ts', 'export const say = {')
  await terminal.until(/say\.ts:\d+: /)
  await terminal.until('Still serving the last good config.')
  terminal.send('\x03')
  await terminal.until('Stopping')
  expect(await terminal.exited).toMatchObject({ code: 130 })
})

test('opens the documentation page, at the start and by key', async () => {
  await project.write('browser.sh', '#!/bin/sh\necho "$1" >> opened\n')
  await chmod(join(project.folder, 'browser.sh'), 0o755)
  await dev(['--open'], { env: { BROWSER: join(project.folder, 'browser.sh') } })
  const opened = () => readFile(join(project.folder, 'opened'), 'utf8').catch(() => '')
  await expect.poll(opened, { timeout: 5_000 }).toMatch(/^http:\S+\/docs\n$/)
  terminal.send('o')
  await expect.poll(opened, { timeout: 5_000 }).toMatch(/^(http:\S+\/docs\n){2}$/)
})

test('says so when there is no browser to open', async () => {
  await dev([], { env: { BROWSER: '/no/such/program' } })
  terminal.send('o')
  await terminal.until(/Could not open a browser. The page is at http:\S+\/docs/)
})

test('without a terminal says the same in plain lines on stderr, and takes no keys', async () => {
  const server = await serve(project)
  try {
    const url = `${server.url}/api/v1/agents/hello/run`
    const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"input":"hi"}' }
    await fetch(url, asked)
    await expect.poll(() => server.stderr(), { timeout: 5_000 }).toMatch(/^completed {2}hello {2}ses_\w{26} {2}first/m)
    await Promise.all(Array.from({ length: 60 }, () => fetch(url, asked)))
    await expect.poll(() => server.stderr(), { timeout: 5_000 }).toMatch(/^… and \d+ more: \d+ completed$/m)
    expect(server.stdout().trim().split('\n')).toHaveLength(1)
    expect(server.stderr()).not.toContain('\x1b')
    expect(server.stderr()).not.toContain('q quit')
  } finally {
    await server.stop()
  }
})
