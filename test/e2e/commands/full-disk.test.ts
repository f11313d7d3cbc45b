import { execFile, spawnSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bin, createProject, environment, type Project, type RunningServer, serve } from '../../support/program.ts'

/** A small disk needs a mount of its own, which not every system lets a user make. */
const mayMount = spawnSync('unshare', ['-rm', 'true']).status === 0

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({ agents: { echo: agent({ sideEffects: false, async *run({ text }) { yield text } }) } })
`
const testOf = (text: string) => ({
  agentserve: 'session-test/1',
  entity: 'echo',
  tools: 'recorded',
  turns: [
    {
      input: [{ type: 'text', text }],
      model_calls: [],
      expect: { status: 'completed', content: 'something else', tool_calls: [] },
    },
  ],
})

describe.skipIf(!mayMount)('a command that writes a file to a disk that is full', () => {
  let project: Project
  let server: RunningServer
  let fileId: string

  beforeAll(async () => {
    project = await createProject({ 'agent.config.ts': config })
    await mkdir(join(project.folder, 'disk'))
    server = await serve(project, 'start')
    const data = Buffer.from('x'.repeat(100_000)).toString('base64')
    const input = {
      parts: [
        { type: 'text', text: 'y'.repeat(100_000) },
        { type: 'file', media_type: 'text/plain', name: 'a.txt', data },
      ],
    }
    const post = (path: string, body: object) =>
      fetch(`${server.url}/api/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    await post('/sessions', { session_id: 's', agent_id: 'echo' })
    await post('/sessions', { session_id: 'plain', agent_id: 'echo' })
    await post('/agents/echo/run', { session_id: 's', input })
    await post('/agents/echo/run', { session_id: 'plain', input: 'y'.repeat(100_000) })
    const history = await fetch(`${server.url}/api/v1/sessions/s/history`)
    const { messages } = (await history.json()) as { messages: [{ parts: [object, { file_id: string }] }] }
    fileId = messages[0].parts[1].file_id
  })
  afterAll(async () => {
    await server.stop()
    await project.remove()
  })

  /** Runs the command in a folder with 64 KB of space, of which `used` bytes are taken; then lists the folder. */
  async function onSmallDisk(args: string[], { used = 0, before = 'true', after = 'ls -A' } = {}) {
    const script = `mount -t tmpfs -o size=64k tmpfs disk && cd disk && ${before} && head -c ${used} /dev/zero > used
      "$0" "$@"; echo "exit $?"; rm -f used; ${after}`
    const options = { cwd: project.folder, env: environment({}) }
    const all = ['-rm', 'sh', '-c', script, process.execPath, bin, ...args]
    const { stdout, stderr } = await promisify(execFile)('unshare', all, options)
    const [, code, left = ''] = /exit (\d+)\n([\s\S]*)$/.exec(stdout) ?? []
    return { code, left: left.trim(), stderr }
  }

  it.each<[command: string, args: () => string[]]>([
    ['backup', () => ['backup', 'a.tar', '--url', server.url]],
    ['sessions export', () => ['sessions', 'export', 's', '--output', 'a.jsonl', '--url', server.url]],
    ['sessions file', () => ['sessions', 'file', 's', fileId, '--output', 'a.txt', '--url', server.url]],
    ['sessions save-test', () => ['sessions', 'save-test', 'plain', '--to', 'a.session.json', '--url', server.url]],
  ])('%s fails, says so, and leaves no half of a file', async (_, args) => {
    const { code, left, stderr } = await onSmallDisk(args())
    expect(stderr).toMatch(/^The disk of '[^']+' is full\. Free some space.*\n$/)
    expect({ code, left }).toEqual({ code: '1', left: '' })
  })

  it('init writes all of its files or none', async () => {
    const { code, left, stderr } = await onSmallDisk(['init', 'new', '--template', 'basic'], { used: 56_000 })
    expect(stderr).toMatch(/^The disk of '.*new' is full\. Free some space, or name another place\.\n$/)
    expect({ code, left }).toEqual({ code: '1', left: '' })
  })

  it('a file that would be replaced stays as it was', async () => {
    const kept = { before: 'echo mine > a.txt', after: 'ls -A; cat a.txt' }
    const args = ['sessions', 'file', 's', fileId, '--output', 'a.txt', '--overwrite', '--url', server.url]
    expect(await onSmallDisk(args, kept)).toMatchObject({ code: '1', left: 'a.txt\nmine' })
  })

  it('test --update leaves the test as it was', async () => {
    await project.write('a.session.json', JSON.stringify(testOf('z'.repeat(5000))))
    const copied = {
      used: 60_000,
      before: 'cp ../a.session.json ../agent.config.ts ../package.json . && ln -s ../node_modules',
      after: 'ls -A; cmp a.session.json ../a.session.json && echo same',
    }
    const { code, left, stderr } = await onSmallDisk(['test', '--update'], copied)
    expect(stderr).toMatch(/The disk of 'a\.session\.json' is full\. Free some space\.\n$/)
    expect({ code, left }).toEqual({
      code: '1',
      left: 'a.session.json\nagent.config.ts\nnode_modules\npackage.json\nsame',
    })
  })

  it('the output of a command is a file too', async () => {
    const args = ['-c', '"$0" "$@" > /dev/full', process.execPath, bin, 'sessions', '--json', '--url', server.url]
    const { status, stderr } = spawnSync('sh', args, { env: environment({}), encoding: 'utf8' })
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: "The output can't be written: its disk is full. Free some space.\n",
    })
  })
})
