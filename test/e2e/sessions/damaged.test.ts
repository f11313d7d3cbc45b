import { mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project, root, serve } from '../../support/program.ts'

let project: Project
const sessions: string[] = []
const config = ['--config', join(root, 'bench/agent.config.ts')]
const at = (folder: string) => [...config, '--data', join(project.folder, folder)]
const database = (folder: string) => join(project.folder, folder, 'agentserve.db')

interface Finding {
  check: string
  state: string
  message: string
  fix?: string
}

async function doctor(folder: string, ...flags: string[]) {
  const { code, stdout, stderr } = await command(project, ['doctor', ...flags, '--json', ...at(folder)])
  const findings = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Finding)
  return { code, stderr, findings, storage: findings.filter(({ check }) => check === 'storage') }
}

beforeAll(async () => {
  project = await createProject()
  const server = await serve(project, 'start', at('data'))
  for (let number = 0; number < 12; number++) {
    const answer = await fetch(`${server.url}/api/v1/agents/echo/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: `said ${number} ${'x'.repeat(20_000)}` }),
    })
    sessions.push(((await answer.json()) as { session_id: string }).session_id)
  }
  await server.stop()
}, 60_000)
afterAll(() => project.remove())

test('doctor --check counts what is there, and also while a server runs', async () => {
  const server = await serve(project, 'start', at('data'))
  const { code, findings, storage } = await doctor('data', '--check')
  await server.stop()
  expect(code).toBe(0)
  expect(storage[0]?.message).toContain('12 sessions, 12 runs, 0 files; no damage')
  const sizes = storage.map(({ message }) => message?.match(/[\d.]+ \w+(?=, of which)/)?.[0])
  expect(sizes).toEqual(storage.map(() => expect.stringMatching(/^[1-9][\d.]* [KM]B$/)))
  expect(findings.at(-1)).toMatchObject({
    check: 'knowledge',
    state: 'ok',
    message: '0 documents, 0 chunks, 0 vectors',
  })
}, 60_000)

test('a file that is no database is named, by the start, by doctor and with the way out', async () => {
  await mkdir(join(project.folder, 'text'))
  await writeFile(database('text'), 'This is a text, and no database at all. '.repeat(100))
  const started = await command(project, ['start', '--port', '0', ...at('text')])
  expect(started.code).toBe(1)
  expect(started.stderr).toContain(`'${database('text')}' is not a database.`)
  expect(started.stderr).toContain('agentserve doctor --check')
  const { code, findings, storage } = await doctor('text')
  expect(code).toBe(1)
  // The other stores were opened beside it.
  const [wrong, ...others] = storage
  expect(wrong).toMatchObject({ state: 'wrong', message: expect.stringContaining(database('text')) })
  expect(others.map(({ state }) => state)).not.toContain('wrong')
  expect(wrong?.fix).toContain('agentserve restore')
  expect(findings.map(({ check }) => check)).not.toContain('knowledge')
}, 60_000)

test('doctor --check says what is wrong with a database, and what is readable can be exported', async () => {
  await project.copy(join(project.folder, 'data'), 'damaged')
  await damage(database('damaged'))
  const { code, storage } = await doctor('damaged', '--check')
  expect([code, storage[0]?.state]).toEqual([1, 'wrong'])
  expect(storage[0]?.fix).toContain('sessions export --all')
  const saved = await command(project, ['sessions', 'export', '--all', '--output', 'saved.jsonl', ...at('damaged')])
  expect([saved.code, saved.stderr]).toEqual([1, expect.stringContaining("can't be read and was skipped")])
  const imported = await command(project, ['sessions', 'import', 'saved.jsonl', ...at('rescued')])
  expect(imported.code).toBe(0)
  const listed = await command(project, ['sessions', 'list', '--all', '--json', ...at('rescued')])
  const count = listed.stdout.trim().split('\n').length
  expect(count).toBeGreaterThan(0)
  expect(count).toBeLessThan(12)
}, 60_000)

/** Overwrites a page in the middle of what one run has said, as a bad disk would. */
async function damage(path: string): Promise<void> {
  const bytes = await readFile(path)
  const place = bytes.indexOf('x'.repeat(3_000))
  expect(place).toBeGreaterThan(0)
  const file = await open(path, 'r+')
  // The number of the next page of this text, where a long text goes on, is at the beginning of the page.
  await file.write(Buffer.alloc(4, 0xff), 0, 4, Math.ceil(place / 4096) * 4096)
  await file.close()
}

test('doctor --compact gives free space back, refuses while a server runs, and keeps everything', async () => {
  await project.copy(join(project.folder, 'data'), 'large')
  const server = await serve(project, 'start', at('large'))
  const refused = await command(project, ['doctor', '--compact', ...at('large')])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('owns the data folder')])
  for (const id of sessions.slice(2)) await fetch(`${server.url}/api/v1/sessions/${id}`, { method: 'DELETE' })
  await server.kill()
  const before = (await stat(database('large'))).size
  const { code, storage } = await doctor('large', '--compact')
  expect([code, storage[0]?.state]).toEqual([0, 'ok'])
  expect((await stat(database('large'))).size).toBeLessThan(before)
  const shown = await command(project, ['sessions', 'show', sessions[0] ?? '', ...at('large')])
  expect(shown.stdout).toContain('said 0')
  const { storage: checked } = await doctor('large', '--check')
  expect(checked[0]?.message).toContain('2 sessions, 2 runs, 0 files; no damage')
  await rm(join(project.folder, 'large'), { recursive: true })
}, 60_000)
