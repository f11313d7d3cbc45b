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
  for (const row of [
    /config +agent\.config\.ts/,
    /studio +http:\S+\/studio/,
    /docs +http:\S+\/docs/,
    /knowledge +empty/,
  ]) {
    await terminal.until(row)
  }
  expect((await ask('hi')).status).toBe(200)
  await terminal.until(/^completed {2}hello {2}ses_\w{26} {2}first \d+ ms {2}total \d+ ms {2}look$/m)
})

test('shows where in the code a run failed, with the lines around, and that it failed', async () => {
  await dev([], { columns: 50 })
  expect((await ask('fail')).status).toBe(500)
  await terminal.until(
    /^failed {5}hello {2}…\w{6} {2}total .*\n {2}run_failed: Cannot read properties of undefined.*\n? *.*\n {2}at say\.ts:2\n.*1 \| export function say.*\n *> 2 \| {3}return text!\.length/m,
  )
  expect(terminal.text().match(/Cannot read/g)).toHaveLength(1)
  // Each line of code on one line of the terminal, with the caret below its place.
  const code = terminal
    .text()
    .split('\n')
    .filter((line) => / \| /.test(line))
  for (const line of code) expect(line.length).toBeLessThanOrEqual(50)
  const at = code.findIndex((line) => / *> 2 \|/.test(line))
  expect(code[at]?.slice(code[at + 1]?.indexOf('^'))).toMatch(/^length/)
  expect(terminal.text()).not.toMatch(/warning|error=|The agent threw/)
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

/** As a desktop has it: the program of the system, found by its name alone, which writes what it was asked to open. */
async function desktop(): Promise<Record<string, string>> {
  for (const name of ['xdg-open', 'open']) {
    await project.write(`bin/${name}`, '#!/bin/sh\necho "$#" "$1" >> opened\n')
    await chmod(join(project.folder, 'bin', name), 0o755)
  }
  return { PATH: `${join(project.folder, 'bin')}:${process.env.PATH}`, DISPLAY: ':0' }
}
const opened = () => readFile(join(project.folder, 'opened'), 'utf8').catch(() => '')

test('opens the studio when it listens, and again by key', async () => {
  await dev(['--open'], { env: await desktop() })
  await expect.poll(opened).toMatch(/^1 http:\S+\/studio\n$/)
  const { status } = await fetch(/http:\S+/.exec(await opened())?.[0] ?? '')
  expect(status).toBe(200)
  expect(terminal.text()).toMatch(/^o studio /m)
  terminal.send('o')
  await expect.poll(opened).toMatch(/^(1 http:\S+\/studio\n){2}$/)
})

test('opens the documentation where the studio is off, with what BROWSER names, also over SSH', async () => {
  await project.write('agent.config.ts', 'export default { server: { studio: false }, agents: {} }')
  const env = await desktop()
  await dev(['--open'], { env: { ...env, BROWSER: 'open', SSH_CONNECTION: '10.0.0.2 5000 10.0.0.1 22' } })
  await expect.poll(opened).toMatch(/^1 http:\S+\/docs\n$/)
  expect(terminal.text()).toMatch(/^o docs /m)
  expect(terminal.text()).not.toContain('/studio')
})

test.each([
  ['no display', { DISPLAY: '' }, 'there is no display'],
  ['a program that is missing', { BROWSER: '/no/such/program' }, 'there is no program /no/such/program'],
  ['a program that fails', { BROWSER: 'false' }, 'false ended with code 1'],
])('with %s says the address, and goes on', async (_what, env, reason) => {
  await dev(['--open'], { columns: 160, env: { ...(await desktop()), ...env } })
  await terminal.until(new RegExp(`No browser was opened: ${reason}\\. The page is at http:\\S+/studio$`, 'm'))
  expect((await ask('hi')).status).toBe(200)
  expect(await opened()).toBe('')
})

test('without a terminal says the same in plain lines on stderr, and takes no keys', async () => {
  const server = await serve(project)
  try {
    const url = `${server.url}/api/v1/agents/hello/run`
    const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"input":"hi"}' }
    await fetch(url, asked)
    await expect.poll(() => server.stderr()).toMatch(/^completed {2}hello {2}ses_\w{26} {2}first/m)
    await Promise.all(Array.from({ length: 60 }, () => fetch(url, asked)))
    await expect.poll(() => server.stderr()).toMatch(/^… and \d+ more: \d+ completed$/m)
    expect(server.stdout().trim().split('\n')).toHaveLength(1)
    expect(server.stderr()).not.toContain('\x1b')
    expect(server.stderr()).not.toContain('q quit')
  } finally {
    await server.stop()
  }
})
