import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'

let project: Project
let server: RunningServer
let terminal: Pty

const config = String.raw`
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, defineConfig } from 'agentserve'

async function wait(name, signal) {
  while (!existsSync(name)) await sleep(20, undefined, { signal })
}

export default defineConfig({
  agents: {
    think: agent({
      async *run({ text, signal }) {
        if (text === 'silent') return wait('never', signal)
        if (text === 'plain') return yield 'Nothing to open.'
        yield { type: 'model_call_start', call_id: 'm', model: 'test/slow' }
        yield { type: 'reasoning_delta', text: 'First I look.\nThen I \u001b[2Jdecide ' }
        yield { type: 'reasoning_delta', text: 'what to do' }
        await wait('thought', signal)
        yield { type: 'tool_call', call_id: 'c', name: 'look', input: { at: 'it', list: Array.from({ length: 40 }, (_, n) => 'entry ' + n) } }
        yield { type: 'tool_result', call_id: 'c', name: 'look', output: { found: '\u001b]0;owned\u0007a needle' }, duration_ms: 12 }
        yield 'It is a needle.'
        await wait('done', signal)
        const usage = { input_tokens: 100, output_tokens: 30, total_tokens: 130 }
        yield { type: 'model_call_end', call_id: 'm', usage, finish_reason: 'stop', duration_ms: 5 }
      },
    }),
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
afterEach(() => terminal.close())

const idle = (pty: Pty) => pty.screen().some((line) => line.startsWith('Enter sends'))
const shows = (text: string | RegExp) => (pty: Pty) => new RegExp(text).test(pty.screen().join('\n'))

async function chat(args: string[] = []): Promise<void> {
  terminal = openPty(project, ['chat', 'think', ...args], { columns: 80, rows: 24 })
  await terminal.until('Enter sends')
}

test('reasoning shows its last line, folds when it ends, and Ctrl-O opens it with the tools', async () => {
  await chat()
  terminal.send('go\r')
  await terminal.until(shows(/Thinking… Then I decide what to do\n[\s\S]*≈ \d+ tokens · Ctrl-C cancels/))
  terminal.send('\x0f')
  await terminal.until(shows(/Reasoning · under way\n {4}First I look\.\n {4}Then I decide what to do\n/))
  terminal.send('\x0f')
  await terminal.until(shows('Thinking… '))
  await project.write('thought', '')
  await terminal.until(/Thought for [\d.]+ m?s · Ctrl-O shows it\n {2}✓ look [\s\S]*It is a needle\./)
  expect(terminal.screen().join('\n')).not.toContain('Thinking')
  await terminal.until(shows(/≈ \d+ tokens/))
  await project.write('done', '')
  await terminal.until(idle)
  expect(terminal.text()).toContain('100 tokens in, 30 out')
  terminal.send('\x0f')
  await terminal.until(shows(/Reasoning · [\d.]+ m?s\n[\s\S]*Tool look · 12 ms\n {2}Input\n {4}\{\n {6}"at": "it",/))
  expect(terminal.screen().join('\n')).toMatch(/Lines 1 to 20 of 5\d/)
  terminal.send('\x1b[F')
  await terminal.until(shows(/Output\n {4}\{\n {6}"found": ".*a needle"\n {4}\}\n/))
  terminal.send('\x1b[H')
  await terminal.until(shows('Lines 1 to 20'))
  terminal.send('\x1b[6~')
  await terminal.until(shows('Lines 20 to 39'))
  terminal.send('\x0f')
  await terminal.until(idle)
  expect(
    terminal
      .screen()
      .findLast((line) => line.startsWith('>'))
      ?.trim(),
  ).toBe('>')
  expect(terminal.title()).toBe('')
})

test('Ctrl-O opens the last turn of a session that is continued, and says when there is nothing', async () => {
  await chat(['--continue'])
  terminal.send('\x0f')
  await terminal.until(shows(/Then I decide what to do[\s\S]*Tool look · 12 ms/))
  terminal.resize(60, 20)
  await terminal.until(shows('Lines 1 to 16'))
  terminal.send('\x1b')
  await terminal.until(idle)
  terminal.send('plain\r')
  await terminal.until('Nothing to open.')
  await terminal.until(idle)
  terminal.send('\x0f')
  await terminal.until('There is nothing to open')
})

test('a run that says nothing shows that it goes on', async () => {
  await chat()
  terminal.send('silent\r')
  const seen = new Set<string>()
  await terminal.until((pty) => {
    const line = pty.screen().find((one) => one.includes('Ctrl-C cancels'))
    if (line !== undefined) seen.add(line)
    return seen.size >= 10
  })
  expect(new Set([...seen].map((line) => line.charAt(0))).size).toBeGreaterThan(5)
  expect([...seen].join('\n')).toMatch(/⠋|⠙|⠹|⠸/)
  await terminal.until(/ 1 s · Ctrl-C cancels/)
  terminal.send('\x03')
  await terminal.until(/Cancelled\./)
})
