import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'

const patienceMs = 60_000
let project: Project
let server: RunningServer

// Ten kinds of attack, each in twenty shapes; a cut inside a sequence is one of them.
const config = String.raw`
import { agent, defineConfig } from 'agentserve'
const kinds = [
  '\u001b]0;owned\u0007', '\u001b]52;c;b3duZWQ=\u001b\\', '\u001b]8;;http://evil.test\u001b\\x\u001b]8;;\u001b\\',
  '\u001b[2J\u001b[H\u001b[3J', '\u001b[?1049h\u001b[?25l\u001b[?7h', '\u009b31m\u009d2;owned\u009c', '\u202eevil\u2066\u2069\u200f',
  '\u0000\u0008\u0008\r\u000b\u000c\u007f', '\u001bP+q544e\u001b\\\u001b[6n\u001b[c', '\u001b(0\u001b7\u001b8\u001bc\u001b[999S\u001b[5i',
]
const shapes = [
  (x) => x, (x) => x + '\n' + x, (x) => '\x60' + x + '\x60', (x) => '\x60\x60\x60ts\n' + x + '\n\x60\x60\x60', (x) => '# ' + x,
  (x) => '- ' + x + '\n  - ' + x, (x) => '> ' + x, (x) => '| a | ' + x + ' |\n|---|---|\n| ' + x + ' | b |', (x) => '[' + x + '](http://x/' + x + ')',
  (x) => '![' + x + '](' + x + ')', (x) => '**' + x + '** *' + x + '*', (x) => '<b ' + x + '>', (x) => x.repeat(500), (x) => 'y'.repeat(3000) + x,
  (x) => '👩‍👩‍👧'.repeat(60) + x, (x) => '你'.repeat(200) + x, (x) => 'a' + '\u0301'.repeat(300) + x, (x) => '\u001b[' + '1;'.repeat(300) + x,
  (x) => '\x60'.repeat(300) + x, (x) => '> '.repeat(300) + x,
]
const outputs = kinds.flatMap((kind) => shapes.map((shape) => shape(kind)))
export default defineConfig({
  agents: {
    hostile: agent({
      async *run({ text }) {
        const output = outputs[Number(text)]
        const middle = Math.floor(output.length / 2)
        yield { type: 'tool_call', call_id: 'c', name: 'look' + output.slice(0, 200), input: { output: output.slice(0, 1000) } }
        yield { type: 'tool_result', call_id: 'c', name: 'look', error: { message: output.slice(0, 1000) }, duration_ms: 1 }
        yield output.slice(0, middle)
        yield output.slice(middle)
        yield '\n\nend of ' + text
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

const idle = (pty: Pty) => pty.screen().some((line) => line.startsWith('Enter sends'))

/** Sequences that change more than how the text looks, or where Ink draws. */
function foreign(raw: string): string[] {
  const own = /^(?:\[[\d;]*[mABCDEGK]|\[\?(?:2026|2004|25|7)[hl]|\[\?u|\[<u)/
  return raw
    .split('\x1b')
    .slice(1)
    .filter((part) => !own.test(part))
}

test('stays itself over 200 hostile outputs: screen, title, cursor and what it writes', {
  timeout: 120_000,
}, async () => {
  const terminal = openPty(project, ['chat', 'hostile'], { columns: 80, rows: 24, patienceMs })
  try {
    await terminal.until('Enter sends')
    for (let number = 0; number < 200; number++) {
      terminal.send(`${number}\r`)
      await terminal.until((pty) => pty.text().includes(`end of ${number}\n`) && idle(pty))
      const prompts = terminal.screen().filter((line) => line.startsWith('Enter sends') || line.startsWith('> '))
      expect(prompts.at(-1), `output ${number}`).toBe('Enter sends · /help · Ctrl-C quits')
      expect(prompts.at(-2), `output ${number}`).toMatch(/^> *$/)
    }
    expect(terminal.title()).toBe('')
    const raw = terminal.raw()
    expect(foreign(raw)).toEqual([])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect(raw.match(/[\x00-\x07\x08\x0b\x0c\x0e-\x1a\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]/)).toBeNull()
    expect(raw.split('\x1b[?7h').length).toBe(1)
    terminal.send('\x03')
    expect(await terminal.exited).toEqual({ code: 130, signal: 0 })
  } finally {
    await terminal.close()
  }
})

test('shows an answer of 10 MB in part, in bounded memory, and stays usable', { timeout: 120_000 }, async () => {
  const terminal = openPty(project, ['chat', 'large'], {
    columns: 80,
    rows: 24,
    patienceMs,
    env: { NODE_OPTIONS: '--max-old-space-size=96' },
  })
  try {
    await terminal.until('Enter sends')
    terminal.send('go\r')
    await terminal.until((pty) => /9\d{6} more characters are/.test(pty.text()) && idle(pty))
    terminal.send('/help\r')
    await terminal.until('/summary')
    terminal.send('\x03')
    expect(await terminal.exited).toEqual({ code: 130, signal: 0 })
  } finally {
    await terminal.close()
  }
})
