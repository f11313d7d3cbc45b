import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, launch, type Project, type RunningServer, serve } from '../../support/program.ts'

let project: Project
let server: RunningServer
let other: Server
let url: string

const config = String.raw`
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    echo: agent({ sideEffects: false, async *run({ text }) { yield text } }),
    unsafe: agent({ async *run() { yield 'a\u001b]0;owned\u0007\u001b[2Jb' } }),
    fails: agent({ async *run() { yield 'half'; throw new Error('no') } }),
    asks: agent({ async *run() { yield 'Shall I?'; yield { type: 'input_required', prompt: 'Go on?' } } }),
    endless: agent({ async *run({ signal }) { while (!signal.aborted) { yield 'word\n'; await new Promise(setImmediate) } } }),
  },
  server: { auth: { keys: ['right-key'] } },
})
`

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config, 'note.txt': 'from a file' })
  server = await serve(project, 'start')
  // A server of the dialect that is not ours: it names no run, and has neither agents nor sessions.
  other = createServer((request, response) => {
    request.resume()
    if (request.url !== '/api/v1/a2a/streamMessage') return void response.writeHead(404).end('nothing here')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: {"type":"content","content":"text "}\n\ndata: {"type":"content","content":"only"}\n\n')
    response.end('data: {"type":"done"}\n\n')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
})
afterAll(async () => {
  other.close()
  await server.stop()
  await project.remove()
})

const key = { AGENTSERVE_KEY: 'right-key' }
const chat = (args: string[], input = '', env: Record<string, string> = key) =>
  command(project, ['chat', ...args], input, env)

test('answers the lines of stdin, in one session', async () => {
  const { code, stdout, stderr } = await chat(['echo'], 'hi\n\nthere\n')
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'hi\nthere\n', stderr: '' })
  const { stdout: events } = await chat(['echo', '--continue', '--message', 'again', '--json'])
  const start = JSON.parse(events.split('\n')[0] ?? '')
  const { stdout: session } = await command(project, ['sessions', 'show', start.session_id, '--json'], '', key)
  expect(JSON.parse(session).messages.map(({ content }: { content: string }) => content)).toEqual([
    'hi',
    'hi',
    'there',
    'there',
    'again',
    'again',
  ])
})

test('prints the events of the run as JSON, one a line', async () => {
  const { code, stdout } = await chat(['echo', '--json'], 'hi\n')
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(code).toBe(0)
  expect(events.map(({ type }) => type)).toEqual(['run_start', 'text_delta', 'run_end'])
})

test('sends what is in files, with a message or as one', async () => {
  expect((await chat(['echo', '--file', 'note.txt'])).stdout).toBe('from a file\n')
  const { stdout } = await chat(['echo', '--message', 'Look:', '--file', 'note.txt'])
  expect(stdout).toBe('Look:\n\nnote.txt:\n\nfrom a file\n')
})

test('keeps answers from controlling the terminal', async () => {
  expect((await chat(['unsafe', '--message', 'x'])).stdout).toBe('ab\n')
})

test('talks to any server of the dialect, text only', async () => {
  const { code, stdout, stderr } = await chat(['whoever', '--url', url, '--message', 'x'])
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'text only\n', stderr: '' })
})

test.each<[string, string[], number, string, RegExp]>([
  ['a run that fails', ['fails', '--message', 'x'], 1, 'half\n', /^The agent threw an error/],
  [
    'a run that waits for an answer',
    ['asks', '--message', 'x'],
    1,
    'Shall I?\n',
    /^The run is waiting for an answer:\n {2}input {2}Go on\?\n\S.*runs resume run_\w+ --input '<json>'\n$/,
  ],
  [
    'an unknown agent',
    ['nobody', '--message', 'x'],
    1,
    '',
    /agent not found: nobody\n`agentserve agents` lists the agents\.\n$/,
  ],
  [
    'a wrong key',
    ['echo', '--message', 'x', '--key', 'wrong'],
    1,
    '',
    /Pass a key or token with --key or AGENTSERVE_KEY\.\n$/,
  ],
  [
    'a missing server',
    ['echo', '--message', 'x', '--url', 'http://127.0.0.1:9'],
    1,
    '',
    /^No answer from http:\/\/127\.0\.0\.1:9: nothing listens there/,
  ],
  ['a session id that can be none', ['echo', '--message', 'x', '--session', 'a b'], 2, '', /contextId/],
  [
    'two ways to name a session',
    ['echo', '--continue', '--session', 'x'],
    2,
    '',
    /--continue and --session can't be combined/,
  ],
  ['a file that is not there', ['echo', '--file', 'none.txt'], 2, '', /^--file none\.txt can't be sent: ENOENT/],
  ['no agent', [], 2, '', /missing required argument 'agentId'/],
])('says what is wrong with %s', async (_, args, code, stdout, stderr) => {
  const ended = await chat(args)
  expect(ended).toMatchObject({ code, stdout })
  expect(ended.stderr).toMatch(stderr)
})

test('ends quietly when nobody reads any more, and so does the run', async () => {
  const running = launch(project, ['chat', 'endless', '--message', 'x'], key)
  await new Promise((resolve) => running.child.stdout?.once('data', resolve))
  running.child.stdout?.destroy()
  const { code, stderr } = await running.finished
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const client = async () => {
    const { stdout } = await command(project, ['runs', '--json', '--limit', '1'], '', key)
    return JSON.parse(stdout)
  }
  let run = await client()
  while (run.status === 'running') run = await client()
  expect(run).toMatchObject({ status: 'cancelled', cancellation_reason: 'client_disconnected' })
})

test('is interrupted by Ctrl-C with the code that says so', async () => {
  const running = launch(project, ['chat', 'endless', '--message', 'x'], key)
  await new Promise((resolve) => running.child.stdout?.once('data', resolve))
  running.child.kill('SIGINT')
  expect(await running.finished).toMatchObject({ code: 130, stderr: '' })
})
