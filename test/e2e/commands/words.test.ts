import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openPty, type PtyOptions } from '../../support/pty.ts'

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: { docs: agent({ async *run({ text }) { yield '**You** said: ' + text } }) },
})
`
let project: Project
let server: RunningServer
let runId: string

beforeAll(async () => {
  project = await createProject({
    'agent.config.ts': config,
    'wrong.config.ts': config.replace('async *run', "nmae: 'x', async *run"),
  })
  server = await serve(project, 'start')
  await command(project, ['chat', 'docs', '--session', 'my-session', '--message', 'hello'])
  runId = JSON.parse((await command(project, ['runs', 'list', '--json'])).stdout).run_id
})
afterAll(async () => {
  await server.stop()
  await project.remove()
})

const swapped = (id: string) => `${id.slice(0, -2)}${id.at(-1)}${id.at(-2)}`

test.each<[string, () => string[], number, () => string]>([
  ['an agent', () => ['agents', 'show', 'dcos'], 1, () => "There is no agent 'dcos'. Did you mean 'docs'?"],
  ['an agent of chat', () => ['chat', 'dosc', '--message', 'x'], 1, () => "Did you mean 'docs'?"],
  ['a session', () => ['sessions', 'show', 'my-sesison'], 1, () => "Did you mean 'my-session'?"],
  ['a run', () => ['runs', 'show', swapped(runId)], 1, () => `Did you mean '${runId}'?`],
  ['an action', () => ['sessions', 'shwo'], 2, () => '(Did you mean show?)'],
  ['an action of runs', () => ['runs', 'tial', 'x'], 2, () => '(Did you mean tail?)'],
  ['a value of a flag', () => ['sessions', 'list', '--status', 'completde'], 2, () => '(Did you mean completed?)'],
  ['a command', () => ['sesions'], 2, () => '(Did you mean sessions?)'],
  ['a flag', () => ['sessions', 'list', '--limti', '3'], 2, () => '(Did you mean --limit?)'],
  ['a setting', () => ['doctor', '--config', 'wrong.config.ts'], 1, () => "did you mean 'name'?"],
])('says which word for %s was meant', async (_, args, code, meant) => {
  const end = await command(project, args())
  expect(end.stdout + end.stderr).toContain(meant())
  expect(end.code).toBe(code)
})

test('says nothing of other words where none is a slip away', async () => {
  const { stderr, code } = await command(project, ['agents', 'show', 'weather'])
  expect(stderr).toBe("There is no agent 'weather'.\n`agentserve agents` lists the agents.\n")
  expect(code).toBe(1)
})

test.each([
  ['agents'],
  ['sessions', 'list'],
  ['search', 'x'],
  ['chat', 'docs', '--message', 'x'],
  ['knowledge', 'list'],
])('%s does not go on without the config that was named, though a server runs', async (...args) => {
  for (const more of [[], ['--url', server.url]]) {
    const { stderr, code } = await command(project, [...args, '--config', 'nofile.ts', ...more])
    expect(stderr).toBe('--config nofile.ts: there is no such file.\n')
    expect(code).toBe(1)
  }
})

async function onTerminal(args: string[], options: PtyOptions = {}) {
  const pty = openPty(project, args, { columns: 160, ...options })
  const { code } = await pty.exited
  const seen = { code, text: pty.text(), raw: pty.raw() }
  await pty.close()
  return seen
}

const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/

test('times are local and relative in a terminal, and ISO in pipes and JSON', async () => {
  const { created_at } = JSON.parse((await command(project, ['runs', 'list', '--json'])).stdout)
  const zone = 'Asia/Kathmandu'
  const parts = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  const there = parts.format(new Date(created_at))
  const env = { TZ: zone }
  const shown = await onTerminal(['runs', 'show', runId], { env })
  expect(shown.text).toMatch(new RegExp(`${there} \\((?:now|\\d+ min ago)\\)`))
  const lists = [
    ['runs', 'list'],
    ['sessions', 'list'],
    ['sessions', 'search', 'hello'],
    ['sessions', 'show', 'my-session'],
  ]
  for (const args of lists) {
    const { text } = await onTerminal(args, { env })
    expect(text, args.join(' ')).toMatch(/now|\d+ min ago/)
    expect(text, args.join(' ')).not.toMatch(ISO)
    const piped = await command(project, args, '', env)
    expect(piped.stdout, args.join(' ')).toMatch(ISO)
    expect(piped.stdout, args.join(' ')).not.toMatch(/ ago/)
    expect((await onTerminal([...args, '--json'], { env })).text, args.join(' ')).toMatch(ISO)
  }
})

const onceDone = [
  ['agents'],
  ['sessions'],
  ['sessions', 'show', 'my-session'],
  ['runs'],
  ['doctor'],
  ['knowledge', 'reindex', '--embedder', 'lexical'],
  ['search', 'x'],
  ['ask', 'what is here?', 'agent.config.ts'],
]

test.each(onceDone)('%s %s prints no escape codes with --plain or TERM=dumb', async (...words) => {
  const args = words.filter((word) => word !== undefined)
  const looks = [onTerminal([...args, '--plain']), onTerminal(args, { env: { TERM: 'dumb' } })]
  for (const { raw, text } of await Promise.all(looks)) {
    expect(raw).not.toContain('\x1b')
    expect(text).not.toBe('')
  }
})

test('dev prints no escape codes with --plain either, not for its keys', async () => {
  const own = await createProject({ 'agent.config.ts': config })
  const pty = openPty(own, ['dev', '--port', '0', '--plain'])
  try {
    await pty.until(/http:\/\/127/)
    pty.send('c')
    pty.send('h')
    await pty.until(/reload/i)
    pty.send('q')
    await pty.exited
    expect(pty.raw()).not.toContain('\x1b')
  } finally {
    await pty.close()
    await own.remove()
  }
})
