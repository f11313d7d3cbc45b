import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { command, createProject, type Project, serve } from '../../support/program.ts'

let project: Project
afterEach(() => project.remove())

async function sources(): Promise<string[]> {
  const { stdout } = await command(project, ['knowledge', 'list', '--json'])
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => (JSON.parse(line) as { source: string }).source).sort()
}

const files = {
  'docs/lamp.md': '# The lamp\n\nThe keeper lights the lamp at dusk.\n',
  'docs/boat.md': '# The boat\n\nThe boat lies in the harbour.\n',
}

test('ask forgets the files of its folders that are gone, and nothing else', async () => {
  project = await createProject({ ...files, 'other.md': 'The tide is high.\n' })
  await command(project, ['ingest', 'docs', 'other.md'])
  await rm(join(project.folder, 'docs/lamp.md'))
  await rm(join(project.folder, 'other.md'))
  const { stdout } = await command(project, ['ask', 'When does the keeper light the lamp?', 'docs'])
  expect(stdout).not.toContain('docs/lamp.md')
  expect(await sources()).toEqual(['docs/boat.md', 'other.md'])
})

test('without a server, ask and search read what the config names first, and forget what is gone', async () => {
  const config = `import { agent, defineConfig } from 'agentserve'
    export default defineConfig({ knowledge: { sources: ['docs'] }, agents: { docs: agent({ knowledge: true }) } })`
  project = await createProject({ 'agent.config.ts': config, ...files })
  const first = await command(project, ['ask', 'When does the keeper light the lamp?'])
  expect(first.stderr).not.toContain('is empty')
  expect(first.stdout).toContain('docs/lamp.md')
  await rm(join(project.folder, 'docs/lamp.md'))
  await project.write('docs/boat.md', '# The boat\n\nThe boat lies in the old dock.\n')
  const { stdout } = await command(project, ['search', 'boat dock lamp', '--json'])
  expect(stdout).toContain('the old dock')
  expect(stdout).not.toContain('lamp.md')
})

test('ingest . --prune deletes what is gone, and keeps what is in a folder that is empty', async () => {
  project = await createProject({ ...files, 'top.md': 'The tide is high.\n', 'more/a.md': 'One more.\n' })
  await command(project, ['ingest', '.'])
  await rm(join(project.folder, 'docs/lamp.md'))
  await rm(join(project.folder, 'top.md'))
  const { stderr } = await command(project, ['ingest', '.', '--prune'])
  expect(stderr).toContain('2 pruned')
  expect(await sources()).not.toContain('docs/lamp.md')
  expect(await sources()).toEqual(expect.arrayContaining(['docs/boat.md', 'more/a.md']))
  await rm(join(project.folder, 'more'), { recursive: true })
  await mkdir(join(project.folder, 'more'))
  const kept = await command(project, ['ingest', 'docs', 'more', '--prune'])
  expect(kept.stderr).toContain('Kept 1 document whose folder is empty or missing: more')
  expect(await sources()).toContain('more/a.md')
})

test('ingest forgets files that .gitignore excludes since or that are binary now, not others', async () => {
  project = await createProject({
    '.gitignore': 'own.md\n',
    ...files,
    'docs/own.md': 'My own.\n',
    'docs/go.sum': 'x h1:y\n',
  })
  const first = await command(project, ['ingest', 'docs', 'docs/own.md'])
  expect(first.stderr).toContain('3 files')
  expect(first.stderr).toContain('Left out 1 file that programs write')
  expect(first.stderr).toContain('docs/go.sum')
  await project.write('docs/.gitignore', 'lamp.md\n')
  const { stderr } = await command(project, ['ingest', 'docs'])
  expect(stderr).toContain('1 pruned')
  expect(await sources()).toEqual(['docs/boat.md', 'docs/own.md'])
  await project.write('docs/boat.md', '\u0089PNG\r\n\u001a\n\0\0')
  const dry = await command(project, ['ingest', 'docs', '--dry-run'])
  expect(dry.stderr).not.toContain('deleted')
  const { stderr: said } = await command(project, ['ingest', 'docs'])
  expect(said).toMatch(/skipped docs\/boat\.md: .*Its earlier text is deleted\./)
  expect(await sources()).toEqual(['docs/own.md'])
  await command(project, ['ingest', 'docs/go.sum'])
  expect(await sources()).toEqual(['docs/go.sum', 'docs/own.md'])
})

test('a server that starts forgets what was deleted and renamed while none ran, and answers from the rest', async () => {
  const config = `import { defineConfig } from 'agentserve'
    export default defineConfig({ knowledge: { sources: ['docs'] } })`
  project = await createProject({ ...files, 'agent.config.ts': config })
  const first = await serve(project, 'start')
  await expect.poll(sources, { timeout: 20_000 }).toEqual(['docs/boat.md', 'docs/lamp.md'])
  await first.stop()
  await rm(join(project.folder, 'docs/lamp.md'))
  await rename(join(project.folder, 'docs/boat.md'), join(project.folder, 'docs/ship.md'))
  const second = await serve(project, 'start')
  try {
    await expect.poll(sources, { timeout: 20_000 }).toEqual(['docs/ship.md'])
    const { stdout } = await command(project, ['ask', 'When does the keeper light the lamp?'])
    expect(stdout).not.toContain('lamp.md')
  } finally {
    await second.stop()
  }
})

test('ingest . --prune says what it would prune, and what it prunes', async () => {
  project = await createProject(files)
  await command(project, ['ingest', '.'])
  await rename(join(project.folder, 'docs/lamp.md'), join(project.folder, 'docs/light.md'))
  const dry = await command(project, ['ingest', '.', '--prune', '--dry-run', '--json'])
  expect(dry.stdout).toContain('"source":"docs/lamp.md","outcome":"pruned"')
  expect(await sources()).toContain('docs/lamp.md')
  const { stdout, stderr } = await command(project, ['ingest', '.', '--prune', '--json'])
  expect(stdout).toContain('"source":"docs/lamp.md","outcome":"pruned"')
  expect(stderr).toContain('1 pruned')
  expect(await sources()).not.toContain('docs/lamp.md')
  expect(await sources()).toContain('docs/light.md')
})

test('ingest names a file that is too large and the limit, and goes on with the next', async () => {
  project = await createProject(files)
  for (const [name, bytes] of [
    ['docs/a-huge.bin', 3 * 1024 ** 3],
    ['docs/b-large.txt', 600_000_000],
  ] as const) {
    const file = await open(join(project.folder, name), 'w')
    await file.truncate(bytes)
    await file.close()
  }
  const { code, stderr } = await command(project, ['ingest', 'docs'])
  expect(stderr).toContain('2 added, 0 replaced, 0 unchanged, 2 skipped')
  expect(stderr).toContain(
    "skipped docs/a-huge.bin: docs/a-huge.bin can't be read: it has 3 GB, and the limit is 100 MB (knowledge.maxFileSize)",
  )
  expect(stderr).toContain("docs/b-large.txt can't be read: it has 572.2 MB")
  expect(code).toBe(0)
})

test('a file that no request could carry is ingested and quoted, up to knowledge.maxFileSize', async () => {
  const line = 'Nothing of interest is told in this line of the long log.\n'
  const text = `${line.repeat(200_000)}\nThe keeper of Skellig lights the lamp at dusk.\n`
  project = await createProject({
    'log.txt': text,
    'small.md': 'The boat lies in the harbour.\n',
  })
  const first = await command(project, ['ingest', 'log.txt', 'small.md'])
  expect(first.stderr).toContain('2 added')
  const again = await command(project, ['ingest', 'log.txt'])
  expect(again.stderr).toContain('1 unchanged')
  const { stdout } = await command(project, ['ask', 'When does the keeper of Skellig light the lamp?', 'log.txt'])
  expect(stdout).toContain('log.txt:200002')
  const server = await serve(project, 'start')
  await project.write('other.txt', `${text}More.\n`)
  const refused = await command(project, ['ingest', 'other.txt'])
  expect(refused.stderr).toContain('the limit is 10 MB (server.maxRequestSize of the running server')
  await server.stop()
  const config = `import { defineConfig } from 'agentserve'
    export default defineConfig({ knowledge: { maxFileSize: '20B', sources: ['other.txt', 'tiny.md'] } })`
  await project.write('agent.config.ts', config)
  await project.write('tiny.md', 'A tide table.\n')
  const limited = await command(project, ['ingest', 'small.md', 'tiny.md'])
  expect(limited.stderr).toContain('it has 30 bytes, and the limit is 20 bytes (knowledge.maxFileSize)')
  await project.write('agent.config.ts', config.replace("'20B'", "'50MB'"))
  const second = await serve(project, 'start')
  try {
    await expect.poll(sources, { timeout: 60_000 }).toEqual(['log.txt', 'other.txt', 'small.md', 'tiny.md'])
  } finally {
    await second.stop()
  }
}, 120_000)
