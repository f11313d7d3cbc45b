import { cp, readdir, readFile, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { documentsDatabase } from '../../../src/store/documents/database.ts'
import { migrations } from '../../../src/store/sessions/sqlite/schema/migrations.ts'
import { command, createProject, type Project, root } from '../../support/program.ts'

/* Data folders as earlier versions wrote them, and as this one does (test/support/data-folder/write.ts). */

const fixtures = join(root, 'test/fixtures/data-folders')
const names = await readdir(fixtures)
let project: Project
beforeAll(async () => {
  project = await createProject()
})
afterAll(() => project.remove())
const at = (name: string) => ['--config', join(root, 'bench/agent.config.ts'), '--data', join(project.folder, name)]

type Run = { run_id: string; replaced_by: string | null }
const run = (content: string, more: object = {}) => ({
  status: 'completed',
  waiting: [],
  given: null,
  messages: expect.arrayContaining([expect.objectContaining({ content })]),
  ...more,
})
const told = { role: 'user', parts: [{ type: 'text', text: 'told of the crane' }] }
/** Since 6: an agent that searches, calls tools and whose model caches. */
const tokens = {
  input_tokens: 120,
  output_tokens: 21,
  total_tokens: 141,
  cached_input_tokens: 60,
  cache_write_tokens: 30,
  reasoning_tokens: 9,
}
const byModel = [{ model: 'scripted/scripted', ...tokens, largest_input_tokens: 40 }]
const watched: { type: string; name?: string; [field: string]: unknown }[] = [
  {
    type: 'retrieval',
    // Versions differ in their order.
    words: expect.arrayContaining(['wombats', 'dig', 'burrows']),
    results: [{ rank: 1, lists: { keyword: {} }, told: true }],
  },
  { type: 'model_call_end', first_text_ms: expect.any(Number), usage: { cached_input_tokens: 20 } },
  { type: 'tool_progress', name: 'count', output: { counted: 1 } },
  { type: 'tool_result', name: 'count', output: { counted: 3 } },
  { type: 'tool_result', name: 'wipe', denied: true },
]
const asked = { kind: 'approval', call_id: 'may', prompt: 'may the stork nest?' }
/** By folder version, the runs of the session from then on. */
const said: Readonly<Record<number, object[]>> = {
  1: [run('remember the heron'), run('and the ibis')],
  5: [
    run('see', { user_id: 'ann' }),
    run('the wrong bittern'),
    run('the right bittern', { given: { history: [told] } }),
    run('may the stork nest?', { status: 'input_required', waiting: [asked] }),
  ],
}

/** Of the runs of 6, one only tries another again: it is gone a week after it was written. */
function counted(version: number): string {
  if (version >= 6) return '3 sessions, [89] runs, 1 files'
  return version >= 5 ? '2 sessions, 7 runs, 1 files' : '2 sessions, 3 runs, 0 files'
}

async function expectWatched(name: string): Promise<void> {
  const listed = await command(project, ['sessions', 'list', '--user', 'eve', '--json', ...at(name)])
  expect(JSON.parse(listed.stdout)).toMatchObject({ session_id: 'watched', usage: tokens, usage_by_model: byModel })
  const { stdout } = await command(project, ['sessions', 'export', 'watched', ...at(name)])
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.find(({ type }) => type === 'run').run).toMatchObject({ usage: tokens, usage_by_model: byModel })
  const events = lines.flatMap((line): { type: string; name?: string }[] => (line.type === 'events' ? line.events : []))
  for (const event of watched)
    expect(events.find(({ type, name }) => type === event.type && name === event.name)).toMatchObject(event)
}

/** From the header of the file: SQLite would leave other files beside it. */
async function versionOf(path: string): Promise<number> {
  return (await readFile(path)).readUInt32BE(60)
}

test('the newest data folder that is kept has the versions of the present program', async () => {
  const kept = await Promise.all(
    names.map(async (name) => [
      await versionOf(join(fixtures, name, 'agentserve.db')),
      await versionOf(join(fixtures, name, 'knowledge/knowledge.db')),
    ]),
  )
  const how = 'node test/support/data-folder/write.ts test/fixtures/data-folders/<number>, after a build'
  expect(kept, `keep a new one: ${how}`).toContainEqual([migrations.length, documentsDatabase.migrations.length])
})

test.each(names)(
  'opens data folder %s with everything in it, and keeps a copy of what it changes',
  async (name) => {
    await cp(join(fixtures, name), join(project.folder, name), { recursive: true })
    const isOld = (await versionOf(join(project.folder, name, 'agentserve.db'))) < migrations.length
    const shown = await command(project, ['sessions', 'show', 'kept', '--json', ...at(name)])
    expect([shown.code, shown.stderr]).toEqual([0, ''])
    for (const text of ['remember the heron', 'and the ibis']) expect(shown.stdout).toContain(text)
    const isNewer = Number(name) >= 5
    const copy = await command(project, ['sessions', 'export', 'kept', ...at(name)])
    expect(copy.stdout.includes(btoa('a file about the egret'))).toBe(isNewer)
    const recorded: Run[] = copy.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .flatMap((line) => (line.type === 'run' ? [line.run] : []))
    expect(recorded).toMatchObject(Object.entries(said).flatMap(([from, runs]) => (Number(name) < +from ? [] : runs)))
    const [, , , wrong, right] = recorded
    expect(recorded.filter((run) => run.replaced_by !== null)).toEqual(wrong === undefined ? [] : [wrong])
    expect(wrong?.replaced_by).toBe(right?.run_id)
    expect(JSON.parse(shown.stdout).runs.map((run: Run) => run.run_id)).toEqual(
      recorded.filter((run) => run !== wrong).map((run) => run.run_id),
    )
    const listed = await command(project, ['sessions', 'list', '--user', 'ann', '--json', ...at(name)])
    expect(JSON.parse(listed.stdout)).toMatchObject({ session_id: 'kept', user_id: 'bob', usage: null })
    const exported = await command(project, ['sessions', 'export', 'kept', ...at(name)])
    expect(JSON.parse(exported.stdout.split('\n')[0] ?? '').session.state).toEqual({ count: 1 })
    if (Number(name) >= 6) await expectWatched(name)
    const facts = await command(project, ['users', 'facts', 'ann', '--json', ...at(name)])
    expect([facts.code, facts.stdout.includes('feeds the heron')]).toEqual([0, Number(name) >= 8])
    // Exports of this test are in it too.
    const log = await command(project, ['audit', '--action', 'session.delete', '--json', ...at(name)])
    expect([log.code, log.stdout.includes('"caller":"anonymous"')]).toEqual([0, Number(name) >= 10])
    const found = await command(project, ['sessions', 'search', 'heron', ...at(name)])
    expect(found.stdout).toContain('kept')
    const passages = await command(project, ['search', 'burrows of wombats', '--json', ...at(name)])
    expect(passages.stdout).toContain('wombat.md')
    const { code, stdout } = await command(project, ['doctor', '--check', '--json', ...at(name)])
    expect([code, stdout]).toEqual([0, expect.stringMatching(`${counted(Number(name))}; no damage`)])
    const copies = async () => (await readdir(join(project.folder, name))).filter((file) => file.includes('.version-'))
    expect(await copies()).toEqual(isOld ? [expect.stringMatching(/^agentserve\.db\.version-\d+$/)] : [])
    for (const copy of await copies()) {
      const weekAgo = Date.now() / 1000 - 8 * 24 * 60 * 60
      await utimes(join(project.folder, name, copy), weekAgo, weekAgo)
    }
    await command(project, ['sessions', 'list', ...at(name)])
    expect(await copies()).toEqual([])
    await rm(join(project.folder, name), { recursive: true })
  },
  60_000,
)
