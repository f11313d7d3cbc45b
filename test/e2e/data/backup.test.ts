import { spawnSync } from 'node:child_process'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project, root, serve } from '../../support/program.ts'

let project: Project
let sessionId = ''
let fileId = ''
/** More than one piece of a stored file. */
const heron = 'A grey heron. '.repeat(100_000)
const config = ['--config', join(root, 'bench/agent.config.ts')]
const at = (folder: string) => [...config, '--data', join(project.folder, folder)]

beforeAll(async () => {
  project = await createProject({ 'docs/wombat.md': '# Wombats\n\nWombats dig burrows in the evening.\n' })
  const ingested = await command(project, ['ingest', 'docs', ...at('data')])
  expect(ingested.code).toBe(0)
  const server = await serve(project, 'start', at('data'))
  const answer = await fetch(`${server.url}/api/v1/agents/echo/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      input: {
        parts: [
          { type: 'text', text: 'remember the heron' },
          { type: 'file', media_type: 'text/plain', name: 'heron.txt', data: btoa(heron) },
        ],
      },
    }),
  })
  const { session_id, messages } = (await answer.json()) as {
    session_id: string
    messages: { parts: { file_id: string }[] }[]
  }
  sessionId = session_id
  fileId = messages[0]?.parts[1]?.file_id ?? ''
  const made = await command(project, ['backup', 'served.tar', '--json', ...at('data')])
  expect([made.code, made.stderr]).toEqual([0, ''])
  expect(JSON.parse(made.stdout)).toEqual({
    file: 'served.tar',
    bytes: (await stat(join(project.folder, 'served.tar'))).size,
  })
  await server.stop()
}, 60_000)
afterAll(() => project.remove())

test('a backup of a running server becomes a data folder again, with its sessions, search and documents', async () => {
  expect((await stat(join(project.folder, 'served.tar'))).mode & 0o777).toBe(0o600)
  await rm(join(project.folder, 'copy'), { recursive: true, force: true })
  const restored = await command(project, ['restore', 'served.tar', ...at('copy')])
  expect([restored.code, restored.stdout]).toEqual([0, ''])
  expect(restored.stderr).toContain('Restored the backup of')
  expect((await stat(join(project.folder, 'copy/agentserve.db'))).mode & 0o777).toBe(0o600)
  const shown = await command(project, ['sessions', 'show', sessionId, ...at('copy')])
  expect(shown.stdout).toContain('remember the heron')
  await rm(join(project.folder, 'heron.txt'), { force: true })
  const file = await command(project, ['sessions', 'file', sessionId, fileId, '--output', 'heron.txt', ...at('copy')])
  expect([file.code, file.stderr]).toEqual([0, expect.any(String)])
  expect((await readFile(join(project.folder, 'heron.txt'), 'utf8')) === heron).toBe(true)
  const found = await command(project, ['sessions', 'search', 'heron', '--json', ...at('copy')])
  expect(found.stdout).toContain(sessionId)
  const passages = await command(project, ['search', 'burrows wombats', '--json', ...at('copy')])
  expect(passages.stdout).toContain('wombat.md')
  // Vectors are made again by whoever opens the folder, which may still be under way.
  const status = async () =>
    JSON.parse((await command(project, ['knowledge', 'status', '--json', ...at('copy')])).stdout)
  await expect.poll(status, { timeout: 30_000 }).toMatchObject({ documents: 1, vectors: 1, pending: 0 })
  expect(await readdir(project.folder)).not.toContainEqual(expect.stringContaining('.restore-'))
  expect(await readdir(join(project.folder, 'data'))).not.toContainEqual(expect.stringContaining('backup-'))
}, 60_000)

test('a backup is made without a server too, and never over a file that is there', async () => {
  const made = await command(project, ['backup', 'alone.tar', ...at('data')])
  expect(made.code).toBe(0)
  const { stdout } = spawnSync('tar', ['-tf', 'alone.tar'], { cwd: project.folder, encoding: 'utf8' })
  expect(stdout.trim().split('\n')).toEqual(['manifest.json', 'agentserve.db', 'knowledge/knowledge.db'])
  const before = await readFile(join(project.folder, 'alone.tar'))
  const again = await command(project, ['backup', 'alone.tar', ...at('data')])
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('already exists')])
  expect(await readFile(join(project.folder, 'alone.tar'))).toEqual(before)
  expect(await readdir(project.folder)).not.toContainEqual(expect.stringContaining('.part'))
}, 60_000)

test('nothing is restored into a folder that is used or not empty, or from what is no backup', async () => {
  const server = await serve(project, 'start', at('data'))
  const used = await command(project, ['restore', 'served.tar', ...at('data')])
  expect([used.code, used.stderr]).toEqual([1, expect.stringContaining('owns the data folder')])
  await server.stop()
  const full = await command(project, ['restore', 'served.tar', ...at('data')])
  expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('is not empty')])
  await writeFile(join(project.folder, 'text.tar'), 'no archive')
  const text = await command(project, ['restore', 'text.tar', ...at('new')])
  expect([text.code, text.stderr]).toEqual([2, expect.stringContaining('not a backup')])
  const missing = await command(project, ['restore', 'missing.tar', ...at('new')])
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('agentserve backup')])
  await rm(join(project.folder, 'new'), { recursive: true, force: true })
}, 60_000)
