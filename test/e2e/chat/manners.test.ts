import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { measureChat } from '../../support/chat-speed.ts'
import { bin, createProject, environment, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'

let project: Project
let server: RunningServer

const config = String.raw`
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    long: agent({ async *run() {
      for (let n = 0; n < 20000; n++) yield 'w' + n + (n % 100 === 99 ? '.\n\n' : ' ')
    } }),
    slow: agent({ async *run() {
      for (let n = 0; n < 120; n++) {
        yield 'part' + n + (n % 30 === 29 ? '.\n\n' : ' ')
        await sleep(15)
      }
      yield { type: 'reasoning_delta', text: 'bidi \u202eevil\u001b]0;owned\u0007 ' + 'x'.repeat(3000) }
      await sleep(300)
      yield 'the end'
    } }),
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
const numbers = (text: string, mark: string) =>
  [...text.matchAll(new RegExp(`\\b${mark}(\\d+)`, 'g'))].map(([, number]) => Number(number))

test('20,000 words are all on the terminal, in their order', async () => {
  const terminal = openPty(project, ['chat', 'long'], { columns: 90, patienceMs: 60_000 })
  await terminal.until('Enter sends')
  terminal.send('go\r')
  await terminal.until((pty) => pty.text().includes('w19999.') && idle(pty))
  const shown = numbers(terminal.text(), 'w')
  await terminal.close()
  expect(shown).toEqual(Array.from({ length: 20_000 }, (_, number) => number))
}, 90_000)

test('a resize while it streams, and hostile reasoning, leave one input and every word', async () => {
  const terminal = openPty(project, ['chat', 'slow'], { columns: 100, rows: 30 })
  await terminal.until('Enter sends')
  terminal.send('go\r')
  for (const [part, columns] of [
    [20, 60],
    [50, 110],
    [80, 40],
  ] as const) {
    await terminal.until(`part${part} `)
    terminal.resize(columns, 24)
  }
  await terminal.until('Thinking…')
  await terminal.until((pty) => pty.text().includes('the end') && idle(pty))
  const shown = new Set(numbers(terminal.text(), 'part'))
  expect(Array.from({ length: 120 }, (_, number) => number).filter((number) => !shown.has(number))).toEqual([])
  expect(terminal.screen().filter((line) => line.startsWith('Enter sends'))).toHaveLength(1)
  expect(terminal.title()).toBe('')
  expect(terminal.raw()).not.toContain('\u202e')
  terminal.send('\x04')
  await terminal.exited
  await terminal.close()
})

test.each([{ TERM: 'dumb' }, { args: '--plain' }])('%o: no escape codes, no drawing, line by line', async (how) => {
  const { args, ...env } = { args: undefined, ...how } as { args?: string; TERM?: string }
  const terminal = openPty(project, ['chat', 'slow', ...(args === undefined ? [] : [args])], { env })
  terminal.send('go\r')
  await terminal.until('the end')
  terminal.send('\x04')
  expect(await terminal.exited).toMatchObject({ code: 0 })
  expect(terminal.raw()).not.toContain('\x1b')
  await terminal.close()
})

test('a reader that leaves in the middle of an answer ends the chat without an error', async () => {
  const child = spawn(process.execPath, [bin, 'chat', 'slow', '--message', 'go'], {
    cwd: project.folder,
    env: environment({}),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (data: Buffer) => {
    stderr += data
  })
  await once(child.stdout, 'data')
  child.stdout.destroy()
  const [code] = await once(child, 'exit')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

// Generous: machines are busy. bench/chat.ts measures.
test('shows the first text soon after it left, and the last of 5,000 fragments soon after the end', async () => {
  const { firstTextMs, lastTextMs } = await measureChat(1)
  expect(firstTextMs).toBeLessThan(1_000)
  expect(lastTextMs).toBeLessThan(3_000)
}, 90_000)
