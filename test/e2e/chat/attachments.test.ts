import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'

let project: Project
let server: RunningServer
let terminal: Pty | undefined

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    look: agent({ run: ({ parts }) => JSON.stringify(parts.map(({ file_id, ...part }) => part)) }),
    draws: agent({
      *run() {
        yield 'Here: '
        yield { type: 'file', media_type: 'image/png', name: 'a\\u001b[2J*b*.png', url: 'https://example.com/a.png' }
      },
    }),
    asks: agent({ *run() { yield { type: 'input_required', prompt: 'Which?' } } }),
  },
})
`

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config, 'notes.txt': 'Ten.', 'empty.txt': '' })
  const at = (name: string) => join(project.folder, name)
  await writeFile(at('a picture.png'), png)
  await writeFile(at('misnamed.txt'), png)
  await mkdir(at('folder'))
  await symlink('notes.txt', at('link.md'))
  await symlink('loop', at('loop'))
  execFileSync('mkfifo', [at('pipe')])
  server = await serve(project, 'start')
})
afterEach(async () => {
  await terminal?.close()
  terminal = undefined
})
afterAll(async () => {
  await server.stop()
  await project.remove()
})

const run = (...args: string[]) => command(project, args)
const picture = { type: 'file', media_type: 'image/png', name: 'a picture.png', size: png.byteLength }

test('chat and ask send files and addresses with the message', async () => {
  const link = 'https://example.com/d%20e.pdf?x=1'
  const files = ['--attach', 'a picture.png', '--attach', link, '--attach', 'link.md']
  const expected = [
    { type: 'text', text: 'hi' },
    picture,
    { type: 'file', media_type: 'application/pdf', name: 'd e.pdf', url: link },
    { type: 'file', media_type: 'text/markdown', name: 'link.md', size: 4 },
  ]
  for (const args of [
    ['chat', 'look', '-m', 'hi'],
    ['ask', 'hi', '--agent', 'look'],
  ]) {
    const { code, stdout, stderr } = await run(...args, ...files)
    expect({ code, parts: JSON.parse(stdout) }, stderr).toEqual({ code: 0, parts: expected })
  }
  const { stdout } = await command(project, ['chat', 'look', '--attach', 'misnamed.txt'], 'one\ntwo @notes.txt\n')
  const [first, second] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(first).toMatchObject([{ text: 'one' }, { media_type: 'image/png', name: 'misnamed.txt' }])
  expect(second).toEqual([{ type: 'text', text: 'two @notes.txt' }])
})

test('chat without a line of text sends the files alone', async () => {
  for (const input of ['', '\n \n']) {
    const { code, stdout } = await command(project, ['chat', 'look', '--attach', 'a picture.png'], input)
    expect({ code, parts: JSON.parse(stdout || '[]') }).toEqual({ code: 0, parts: [picture] })
  }
  const { stdout: events } = await run('chat', 'asks', '-m', 'go', '--json')
  const { session_id } = JSON.parse(events.split('\n')[0] ?? '')
  const { code, stderr } = await run('chat', 'asks', '--session', session_id, '--attach', 'notes.txt')
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("which can't have files") })
})

test.each([
  ['missing.png', "missing.png can't be attached: there is no such file."],
  ['folder', "folder can't be attached: it is a folder. Attach its files one by one."],
  ['pipe', "pipe can't be attached: it is not a regular file."],
  ['/dev/null', "/dev/null can't be attached: it is not a regular file."],
  ['empty.txt', "empty.txt can't be attached: it is empty."],
  ['loop', "loop can't be attached: it is a link to itself."],
  ['http://[', "http://[ can't be attached: it is not a valid address."],
])('refuses to attach %s before anything is sent', async (place, message) => {
  const { code, stdout, stderr } = await run('chat', 'look', '-m', 'hi', '--attach', 'notes.txt', '--attach', place)
  expect({ code, stdout, stderr: stderr.trim() }).toEqual({ code: 2, stdout: '', stderr: message })
})

test("passes on the server's limits", async () => {
  const many = Array.from({ length: 11 }, () => ['--attach', 'notes.txt']).flat()
  const { code, stderr } = await run('chat', 'look', '-m', 'hi', ...many)
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('limit `run.files` is 10') })
  await writeFile(join(project.folder, 'large.bin'), Buffer.alloc(9 * 1024 * 1024))
  const large = await run('chat', 'look', '-m', 'hi', '--attach', 'large.bin')
  expect(large.code).not.toBe(0)
  expect(large.stderr).toContain('The body is larger than 10 MB. Send less, or raise `server.maxRequestSize`.')
})

test('lists the files of a session and gives one back, without overwriting', async () => {
  const { stdout: events } = await run('chat', 'look', '-m', 'hi', '--attach', 'a picture.png', '--json')
  const { session_id } = JSON.parse(events.split('\n')[0] ?? '')
  const { stdout: listed } = await run('sessions', 'files', session_id, '--json')
  const { file_id, ...part } = JSON.parse(listed)
  expect(part).toMatchObject(picture)
  expect((await run('sessions', 'files', session_id)).stdout).toContain('a picture.png')
  expect((await run('sessions', 'show', session_id)).stdout).toContain('  hi\n  [a picture.png, image/png, 16 bytes]')
  const file = ['sessions', 'file', session_id, file_id]
  const taken = await run(...file)
  expect([taken.code, taken.stderr]).toEqual([
    1,
    expect.stringContaining(
      'a picture.png already exists. Name another file, or overwrite this one with `--overwrite`.',
    ),
  ])
  expect((await run(...file, '--output', 'copy.png')).stderr).toContain('Wrote 16 bytes to copy.png.')
  expect(await readFile(join(project.folder, 'copy.png'))).toEqual(png)
  await writeFile(join(project.folder, 'copy.png'), 'old')
  expect((await run(...file, '--output', 'copy.png', '--overwrite')).code).toBe(0)
  expect(await readFile(join(project.folder, 'copy.png'))).toEqual(png)
  expect((await run(...file, '--output', '-')).stdout).toContain('PNG')
  const other = await run('sessions', 'file', session_id, 'file_nothere')
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('file_nothere')])
  expect((await run('sessions', 'file', session_id)).code).toBe(2)
})

test('an answer to a run that waits has no files', async () => {
  const { stdout: events } = await run('chat', 'asks', '-m', 'go', '--json')
  const { session_id, run_id } = JSON.parse(events.split('\n')[0] ?? '')
  const answer = ['chat', 'asks', '--session', session_id, '-m', 'this one', '--attach', 'notes.txt']
  const { code, stderr } = await run(...answer)
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("which can't have files") })
  expect(JSON.parse((await run('runs', 'show', run_id, '--json')).stdout).status).toBe('input_required')
})

test('shows files of answers in a safe form', async () => {
  const { stdout } = await run('chat', 'draws', '-m', 'go')
  expect(stdout).toBe('Here: \n[a*b*.png, image/png]\n')
  const { stdout: events } = await run('chat', 'draws', '-m', 'go', '--json')
  const { session_id } = JSON.parse(events.split('\n')[0] ?? '')
  expect((await run('sessions', 'show', session_id)).stdout).toContain('  Here: \n  [a*b*.png, image/png]')
  const { stdout: markdown } = await run('sessions', 'export', session_id, '--format', 'markdown')
  expect(markdown).toContain('\\[a\\*b\\*.png, image/png\\]')
})

async function chat(agent: string, ...args: string[]): Promise<Pty> {
  terminal = openPty(project, ['chat', agent, ...args], { columns: 160 })
  await terminal.until('Enter sends')
  return terminal
}
const idle = (pty: Pty) => pty.screen().some((line) => line.startsWith('Enter sends'))

test('chat attaches files by /attach and by @, and shows them', async () => {
  const pty = await chat('look')
  pty.send('/attach missing.png\r')
  await pty.until("missing.png can't be attached: there is no such file.")
  pty.send('/attach "a picture.png"\r')
  await pty.until('Your next message has:\n  [a picture.png, image/png, 16 bytes]')
  pty.send('/attach notes.txt\r')
  await pty.until('[notes.txt, text/plain, 4 bytes]')
  pty.send('/detach\r')
  await pty.until('Your next message has no files.')
  pty.send('/attach a\\ picture.png\r')
  await pty.until((now) => now.text().split('[a picture.png').length === 4)
  pty.send('look at (@notes.txt), ann@notes.txt @nobody and @folder\r')
  await pty.until(
    /> look at [^\n]*\n\s*\[a picture\.png, image\/png, 16 bytes\]\n\s*\[notes\.txt, text\/plain, 4 bytes\]/,
  )
  await pty.until('"name":"notes.txt"')
  await pty.until(idle)
  expect(pty.text()).not.toContain('"name":"folder"')
  pty.send('@"a picture.png" again\r')
  await pty.until(/picture\.png" again"\},\{"type":"file"/)
  await pty.until(idle)
  pty.send('\x04')
  await pty.exited
  await pty.close()
  const again = await chat('look', '--continue')
  await again.until(/> look at [^\n]*\n\s*\[a picture\.png, image\/png, 16 bytes\]/)
})

test('chat starts with the files of --attach, and shows files of answers', async () => {
  const pty = await chat('draws', '--attach', 'notes.txt')
  pty.send('go\r')
  await pty.until(/> go\n\s*\[notes\.txt, text\/plain, 4 bytes\]/)
  await pty.until('[a*b*.png, image/png]')
})

test('a file without permission is refused', async ({ skip }) => {
  if (process.getuid?.() === 0) skip('root reads every file')
  const path = join(project.folder, 'locked.txt')
  await writeFile(path, 'x')
  await chmod(path, 0)
  expect((await run('chat', 'look', '-m', 'x', '--attach', 'locked.txt')).stderr).toContain('no permission to read')
})
