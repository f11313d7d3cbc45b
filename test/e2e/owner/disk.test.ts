import { spawn } from 'node:child_process'
import { chmod, lstat, mkdir, readdir, symlink, unlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { command, createProject, launch, type Project, type Running } from '../../support/program.ts'

/* What the folder of an owner may hold, and who else may listen there. */

const config = `
import { agent, defineConfig } from 'agentserve'
import { setTimeout as sleep } from 'node:timers/promises'
export default defineConfig({
  agents: {
    say: agent({
      async *run({ text, signal }) {
        yield 'You said: ' + text
        if (text === 'stay') await sleep(60_000, undefined, { signal })
      },
    }),
  },
})
`

let project: Project
const running: Running[] = []
const closing: (() => unknown)[] = []
beforeEach(async () => {
  project = await createProject({ 'agent.config.ts': config })
})
afterEach(async () => {
  for (const { child, finished } of running.splice(0)) {
    child.kill('SIGKILL')
    await finished
  }
  for (const close of closing.splice(0)) await close()
  await project.remove()
})

const socket = () => join(project.folder, '.agentserve/agentserve.sock')
const hint = async () =>
  JSON.parse(await project.read('.agentserve/server.json')) as { pid: number; socket: string; version: string }
const list = (...args: string[]) => command(project, ['agents', '--json', ...args])

/** A command that owns the folder and is in the middle of a run. */
async function owner(args: string[] = [], env: Record<string, string> = {}): Promise<Running> {
  const one = launch(project, ['chat', 'say', '--message', 'stay', ...args], env)
  running.push(one)
  await expect.poll(one.stdout, { timeout: 20_000 }).toContain('You said: stay')
  return one
}

test('the socket is for its user alone, and is gone with a command that ends', async () => {
  await owner()
  const { mode } = await lstat(socket())
  expect(mode & 0o777).toBe(0o600)
  expect((await hint()).socket).toBe(socket())
  running[0]?.child.kill('SIGTERM')
  await running[0]?.finished
  expect(await readdir(join(project.folder, '.agentserve'))).not.toContain('agentserve.sock')
})

test('a socket and a server.json that a killed command has left are of no matter', async () => {
  const { child, finished } = await owner()
  child.kill('SIGKILL')
  await finished
  expect((await lstat(socket())).isSocket()).toBe(true)
  expect(await list()).toMatchObject({ code: 0, stderr: '' })
})

test.each([
  ['a file', async () => project.write('.agentserve/agentserve.sock', 'mine')],
  ['a folder', async () => mkdir(socket(), { recursive: true })],
  [
    'a link',
    async () => {
      await mkdir(join(project.folder, '.agentserve'))
      await symlink('/tmp', socket())
    },
  ],
])('%s in the place of the socket is left alone, and commands meet elsewhere', async (_, make) => {
  await make()
  const before = await lstat(socket())
  await owner()
  const { socket: path } = await hint()
  expect(path).toMatch(/^\/.*\/agentserve-\d+\/[0-9a-f]{16}\.sock$/)
  expect((await lstat(join(path, '..'))).mode & 0o777).toBe(0o700)
  expect(await list()).toMatchObject({ code: 0, stderr: '' })
  expect((await lstat(socket())).ino).toBe(before.ino)
})

test('commands of a folder with a long path meet below the temporary folder', async () => {
  const data = join(project.folder, 'x'.repeat(100))
  await owner(['--data', data])
  expect(JSON.parse(await project.read(`${'x'.repeat(100)}/server.json`))).toMatchObject({
    socket: expect.stringMatching(/\/agentserve-\d+\/[0-9a-f]{16}\.sock$/),
  })
  expect(await list('--data', data)).toMatchObject({ code: 0, stderr: '' })
})

test('a program that listens in place of a dead owner gets no key, and another owner takes the place', async () => {
  const { child, finished } = await owner([], { AGENTSERVE_API_KEYS: 'a-key-of-the-operator' })
  const { socket: path } = await hint()
  child.kill('SIGKILL')
  await finished
  const keys: unknown[] = []
  const hostile = createServer(({ headers }, response) => {
    keys.push(headers.authorization)
    response.end('{"status":"ok","agents":[]}')
  })
  await unlink(path)
  await new Promise<void>((done) => hostile.listen(path, done))
  closing.push(() => new Promise((done) => hostile.close(done)))
  const { stdout, stderr, code } = await list()
  expect(stderr).toMatch(/server\.json is ignored: the program at \S+ did not prove that it wrote this file\./)
  expect(keys).toEqual([undefined])
  expect({ stdout, code }).toMatchObject({ stdout: expect.stringContaining('"say"'), code: 0 })
})

test('an answer whose owner is killed ends with where to find what is recorded', async () => {
  const { child } = await owner()
  const asked = launch(project, ['ask', 'stay', '--agent', 'say'])
  running.push(asked)
  await expect.poll(asked.stdout, { timeout: 20_000 }).toContain('You said: stay')
  // What was said in the last 50 ms before a kill may not be recorded yet.
  expect(await list()).toMatchObject({ code: 0 })
  child.kill('SIGKILL')
  const { code, stdout, stderr } = await asked.finished
  expect({ code, stdout }).toEqual({ code: 1, stdout: 'You said: stay\n' })
  const runId = /The answer is not complete: `agentserve runs show (run_\w+)` shows what is recorded\.\n$/.exec(
    stderr,
  )?.[1]
  const shown = await command(project, ['runs', 'show', runId ?? '', '--json'])
  expect(JSON.parse(shown.stdout)).toMatchObject({ status: 'interrupted', content: 'You said: stay' })
})

test('eight commands at once on a new folder: all work', async () => {
  const all = await Promise.all(
    Array.from({ length: 8 }, (_, n) => command(project, ['chat', 'say', '--message', `number ${n}`])),
  )
  for (const [n, { code, stdout, stderr }] of all.entries()) {
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: `You said: number ${n}\n` })
  }
  const { stdout } = await command(project, ['runs', 'list', '--json'])
  expect(stdout.match(/"completed"/g)).toHaveLength(8)
})

test('a stopped owner: other commands say after 5 s who has the folder', async () => {
  const { child } = await owner()
  child.kill('SIGSTOP')
  const since = performance.now()
  const ended = await list()
  expect(performance.now() - since).toBeGreaterThan(4_900)
  expect(ended).toMatchObject({ code: 1, stdout: '' })
  expect(ended.stderr).toMatch(
    new RegExp(
      `is in use by \`agentserve chat\` \\(process ${child.pid}, since \\S+\\), the program at \\S+ does not answer`,
    ),
  )
  child.kill('SIGCONT')
  expect(await list()).toMatchObject({ code: 0 })
})

test('an owner of another version is refused with both versions', async () => {
  await owner()
  await project.write('.agentserve/server.json', JSON.stringify({ ...(await hint()), version: '9.9.9' }))
  await chmod(join(project.folder, '.agentserve/server.json'), 0o600)
  const { code, stderr } = await list()
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /is in use by `agentserve chat` \(process \d+, since \S+\) of agentserve 9\.9\.9, and this is agentserve \d/,
  )
})

test('the config of the owner answers, and a command with another one is told', async () => {
  await project.write('other.config.ts', config.replaceAll('say:', 'other:'))
  await owner()
  const { stdout, stderr } = await list('--config', 'other.config.ts')
  expect(stdout).toContain('"say"')
  expect(stderr).toMatch(
    /^`agentserve chat` \(process \d+, since \S+\) answers, with \S+agent\.config\.ts and not other\.config\.ts\.\n$/,
  )
  expect((await list('--config', 'agent.config.ts')).stderr).toBe('')
})

test('a config with hashed keys lets the commands of its user in', async () => {
  await project.write(
    'agent.config.ts',
    config.replace('agents: {', `server: { auth: { keys: ['sha256:${'0'.repeat(64)}'] } },\n  agents: {`),
  )
  await owner()
  expect(await list()).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('"say"') })
  const asked = await command(project, ['chat', 'say', '--message', 'hello'])
  expect(asked).toMatchObject({ code: 0, stdout: 'You said: hello\n' })
})

test('any other program on the socket needs a key when the config has keys', async () => {
  await project.write(
    'agent.config.ts',
    config.replace('agents: {', "server: { auth: { keys: ['a-key-of-the-operator'] } },\n  agents: {"),
  )
  await owner()
  const curl = (path: string, ...more: string[]) =>
    new Promise<string>((done) => {
      const child = spawn('curl', [
        '-s',
        '-o',
        '/dev/null',
        '-w',
        '%{http_code}',
        '--unix-socket',
        socket(),
        ...more,
        `http://localhost${path}`,
      ])
      let text = ''
      child.stdout.on('data', (piece) => (text += piece))
      child.once('close', () => done(text))
    })
  expect(await curl('/api/v1/agents')).toBe('401')
  expect(await curl('/.agentserve/release', '-X', 'POST')).toBe('401')
  expect(await curl('/api/v1/agents', '-H', 'Authorization: Bearer a-key-of-the-operator')).toBe('200')
})
