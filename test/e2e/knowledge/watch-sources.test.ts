import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createProject, launch, type Project, type Running, type RunningServer, serve } from '../../support/program.ts'

const timeout = 20_000

let project: Project
let server: RunningServer | undefined
let watching: Running | undefined

afterEach(async () => {
  watching?.child.kill('SIGKILL')
  await watching?.finished
  await server?.stop()
  await project.remove()
  server = undefined
  watching = undefined
})

/** The content of what the server finds of these words, by source. */
async function found(words: string): Promise<Record<string, string>> {
  const response = await fetch(`${server?.url}/api/v1/knowledge/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: words, mode: 'keyword' }),
  })
  const { results } = (await response.json()) as { results: { source: string; content: string }[] }
  return Object.fromEntries(results.map(({ source, content }) => [source, content]))
}

const sources = async (words: string) => Object.keys(await found(words))

test('ingest --watch takes in what is edited and added, deletes what is gone, and ends at Ctrl-C', async () => {
  project = await createProject({ '.git/HEAD': '', 'notes/lamp.md': '# Lamp\n\nThe lamp burns paraffin.\n' })
  server = await serve(project, 'start')
  watching = launch(project, ['ingest', 'notes', '--watch', '--json'])
  const results = () =>
    (watching?.stdout() ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { outcome: string; source: string })
      .map(({ outcome, source }) => `${outcome} ${source}`)
  await expect.poll(() => watching?.stderr(), { timeout }).toContain('Watching notes')
  expect(results()).toEqual(['added notes/lamp.md'])
  await project.write('notes/lamp.md', '# Lamp\n\nThe lamp is electric now.\n')
  await expect.poll(async () => (await found('lamp'))['notes/lamp.md'], { timeout }).toContain('electric')
  await project.write('notes/deep/boat.md', '# Boat\n\nThe boat lies in the harbour.\n')
  await expect.poll(() => sources('harbour'), { timeout }).toEqual(['notes/deep/boat.md'])
  await project.write('.gitignore', 'deep/\n')
  await expect.poll(() => sources('harbour'), { timeout }).toEqual([])
  await rm(join(project.folder, '.gitignore'))
  await expect.poll(() => sources('harbour'), { timeout }).toEqual(['notes/deep/boat.md'])
  await project.write('notes/lamp.md', '\u0089PNG\r\n\u001a\n\0\0')
  await expect.poll(() => sources('lamp'), { timeout }).toEqual([])
  await rm(join(project.folder, 'notes/deep/boat.md'))
  await expect.poll(() => sources('harbour'), { timeout }).toEqual([])
  await expect.poll(results, { timeout }).toContain('pruned notes/deep/boat.md')
  watching.child.kill('SIGINT')
  const { code, signal, stderr } = await watching.finished
  expect({ code, signal }).toEqual({ code: 0, signal: null })
  expect(stderr).not.toMatch(/error|at .*:\d+:\d+/i)
})

test('dev takes in what changes among its knowledge sources', async () => {
  project = await createProject({
    'agent.config.ts': `import { defineConfig } from 'agentserve'
      export default defineConfig({ knowledge: { sources: ['notes', 'top.md'] } })`,
    'notes/lamp.md': '# Lamp\n\nThe lamp burns paraffin.\n',
    'top.md': '# Tide\n\nHigh water is at noon.\n',
  })
  server = await serve(project)
  await expect.poll(() => sources('paraffin'), { timeout }).toEqual(['notes/lamp.md'])
  await project.write('notes/lamp.md', '# Lamp\n\nThe lamp is electric now.\n')
  await expect.poll(() => sources('electric'), { timeout }).toEqual(['notes/lamp.md'])
  expect(await sources('paraffin')).toEqual([])
  await project.write('notes/boat.md', '# Boat\n\nThe boat lies in the harbour.\n')
  await expect.poll(() => sources('harbour'), { timeout }).toEqual(['notes/boat.md'])
  await rm(join(project.folder, 'notes/boat.md'))
  await expect.poll(() => sources('harbour'), { timeout }).toEqual([])
  await project.write('notes/.gitignore', 'lamp.md\n')
  await expect.poll(() => sources('electric'), { timeout }).toEqual([])
  await project.write('top.md', '# Tide\n\nLow water is at six.\n')
  await expect.poll(() => sources('six'), { timeout }).toEqual(['top.md'])
})
