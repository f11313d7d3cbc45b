import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveHugeSession } from '../../support/browser/sessions-server.ts'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'

const patienceMs = 60_000
let project: Project
let server: RunningServer

// Ten kinds of attack, as answers, as what was asked, as names of tools, agents' errors and sessions.
const kinds = [
  '\u001b]0;owned\u0007',
  '\u001b]52;c;b3duZWQ=\u001b\\',
  '\u001b]8;;http://evil.test\u001b\\x\u001b]8;;\u001b\\',
  '\u001b[2J\u001b[H\u001b[3J',
  '\u001b[?1049l\u001b[?25h\u001b[?7h',
  '\u009b31m\u009d2;owned\u009c',
  '\u202eevil\u2066\u2069\u200f',
  '\u0000\u0008\u0008\r\u000b\u000c\u007f',
  '\u001bP+q544e\u001b\\\u001b[6n\u001b[c',
  '\u001b(0\u001b7\u001b8\u001bc\u001b[999S\u001b[5i',
]

const config = String.raw`
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    hostile: agent({
      async *run({ text }) {
        yield { type: 'tool_call', call_id: 'c', name: 'look' + text, input: { text } }
        yield { type: 'tool_result', call_id: 'c', name: 'look', error: { message: text }, duration_ms: 1 }
        for (const half of [text.slice(0, text.length / 2), text.slice(text.length / 2)]) yield half + ' | ' + half.repeat(50) + '\n\n'
        yield '👩‍👩‍👧'.repeat(60) + '你'.repeat(200) + 'a' + '\u0301'.repeat(300) + '\n\n'
        throw new Error(text)
      },
    }),
    large: agent({ async *run() { for (let index = 0; index < 160; index++) yield 'z'.repeat(64 * 1024); yield '\n\nend' } }),
  },
})
`

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  server = await serve(project, 'start')
})
afterAll(async () => {
  await server.stop()
  await project.remove()
})

async function post(path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${server.url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  await answer.text()
}

/** Sequences that change more than how the text looks, or where Ink draws. */
function foreign(raw: string): string[] {
  const own = /^(?:\[[\d;]*[mABCDEGHJK]|\[\?(?:2026|2004|25|7|1049)[hl])/
  return raw
    .split('\x1b')
    .slice(1)
    .filter((part) => !own.test(part))
}

const foot = (pty: Pty) => pty.screen().at(-1) ?? ''
const seen = (text: string | RegExp) => (pty: Pty) => {
  const screen = pty.screen().join('\n')
  return typeof text === 'string' ? screen.includes(text) : text.test(screen)
}

test('stays itself over hostile names, questions, tools, answers, errors and searches', {
  timeout: 120_000,
}, async () => {
  for (const [place, kind] of kinds.entries()) {
    await post('/sessions', { session_id: `s${place}`, name: `${kind}name ${place}${kind}`, agent_id: 'hostile' })
    await post('/agents/hostile/run', { session_id: `s${place}`, input: `${kind}asked ${place}` })
  }
  const terminal = openPty(project, ['sessions'], { columns: 60, rows: 24, patienceMs })
  try {
    await terminal.until((pty) => foot(pty).startsWith('? help') && seen('name 9')(pty))
    for (const place of [...kinds.keys()].reverse()) {
      await terminal.until(seen(new RegExp(`^› .*name ${place}`, 'm')))
      terminal.send('\r')
      await terminal.until((pty) => seen(/· failed ·/)(pty) && foot(pty).startsWith('? help · Esc back'))
      terminal.send('g')
      await terminal.until(seen(new RegExp(`asked ${place}`)))
      expect(terminal.screen()[0], `session ${place}`).toMatch(new RegExp(`name ${place}.* s${place}$`))
      terminal.send('\x1b')
      await terminal.until(seen('Enter opens'))
      terminal.send('j')
    }
    terminal.send('/asked\r')
    await terminal.until((pty) => seen('Found: asked')(pty) && seen(/> asked 7/)(pty))
    expect(terminal.title()).toBe('')
    const raw = terminal.raw()
    expect(foreign(raw)).toEqual([])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect(raw.match(/[\x00-\x07\x08\x0b\x0c\x0e-\x1a\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]/)).toBeNull()
    expect(raw).not.toContain('\x1b[?1049l')
    terminal.send('q')
    expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
    expect(terminal.text()).toBe('')
  } finally {
    await terminal.close()
  }
})

test('shows an answer of 10 MB in part, in bounded memory, and stays usable', { timeout: 120_000 }, async () => {
  await post('/sessions', { session_id: 'large', agent_id: 'large' })
  await post('/agents/large/run', { session_id: 'large', input: 'go' })
  const env = { NODE_OPTIONS: '--max-old-space-size=96' }
  const terminal = openPty(project, ['sessions'], { columns: 80, rows: 24, env, patienceMs })
  try {
    await terminal.until(seen(/^› go/m))
    terminal.send('\r')
    await terminal.until(seen(/9\d{6} more characters are/))
    terminal.send('g')
    await terminal.until(seen(/> go\n\nlarge\n\nzzz/))
    for (let page = 0; page < 30; page++) terminal.send(' ')
    terminal.send('G')
    await terminal.until(seen(/9\d{6} more characters are/))
    terminal.resize(40, 20)
    await terminal.until((pty) => seen(/more characters/)(pty) && (pty.screen()[19] ?? '').startsWith('? help'))
    terminal.send('q')
    expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
  } finally {
    await terminal.close()
  }
})

test('goes through a session of 100,000 messages in bounded memory, and reads only what is in sight', {
  timeout: 120_000,
}, async () => {
  const huge = await serveHugeSession(50_000)
  const env = { NODE_OPTIONS: '--max-old-space-size=96' }
  const terminal = openPty(project, ['sessions', '--url', huge.url], { columns: 80, rows: 24, env, patienceMs })
  try {
    await terminal.until(seen(/^› turn 0[\s\S]*50000 runs/m))
    terminal.send('\r')
    await terminal.until(seen(/Answer 49999\.\n/))
    expect(huge.reads()).toBeLessThan(40)
    for (let page = 0; page < 200; page++) terminal.send('b')
    await terminal.until(seen(/Answer 49\d{3}\.\n[\s\S]*Answer 49\d{3}\.\n/))
    terminal.send('g')
    await terminal.until(seen(/> turn 0\n\nsay\n\nAnswer 0\.\n/))
    terminal.send('G')
    await terminal.until(seen(/Answer 49999\.\n/))
    expect(huge.reads()).toBeLessThan(1000)
    terminal.send('q')
    expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
  } finally {
    await terminal.close()
    huge.close()
  }
})
