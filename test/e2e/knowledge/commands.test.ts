import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project, serve } from '../../support/program.ts'

let project: Project
beforeAll(async () => {
  project = await createProject({
    'agent.config.ts': `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: { docs: agent({ knowledge: true }) },
  server: { prefix: '/moved', a2a: { prefix: '/talk' }, healthPath: '/alive' },
})
`,
    'docs/a.md': '# The lighthouse\n\nThe lighthouse keeper lights the lamp at dusk.\n',
  })
})
afterAll(() => project.remove())

async function status() {
  const { stdout, code } = await command(project, ['knowledge', 'status', '--json'])
  expect(code).toBe(0)
  return JSON.parse(stdout) as Record<string, unknown>
}

test('shows the state of the knowledge base and embeds it again', async () => {
  expect((await command(project, ['ingest', 'docs'])).code).toBe(0)
  expect(await status()).toMatchObject({ documents: 1, chunks: 1, vectors: 1, pending: 0 })
  const again = await command(project, ['knowledge', 'reindex', '--embedder', 'lexical'])
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('lexical') })
  expect(await status()).toMatchObject({ chunks: 1, vectors: 1 })
  expect((await command(project, ['knowledge', 'paint'])).code).toBe(2)
  expect((await command(project, ['knowledge', 'status', '--embedder', 'lexical'])).code).toBe(2)
})

test('explains a search, as an agent makes it, and refuses what it does not take', async () => {
  const { stdout, code } = await command(project, ['knowledge', 'explain', 'who', 'lights the lamp', '--agent', 'docs'])
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^ {2}searched {2}who lights the lamp\n.*1 of 1 passage {2}hybrid {2}limit 6 {2}collection default$/m,
  )
  expect(stdout).toMatch(/^ +\[1\] +1 +\d\.\d{3} +1 \(\d\.\d\d\) +1 \(\d\.\d\d\) +docs\/a\.md:1-3$/m)
  expect(stdout).toMatch(/^\[1\] docs\/a\.md:1\n {4}words {2}.*lamp/m)
  const args = ['knowledge', 'explain', 'lamp', '--filter', 'source^=docs', '--mode', 'keyword', '--json']
  const json = JSON.parse((await command(project, args)).stdout)
  expect(json).toMatchObject({
    query: 'lamp',
    filters: { source: { prefix: 'docs' } },
    mode: 'keyword',
    results: [{ source: 'docs/a.md', explain: { matches: ['lamp'], lists: { keyword: { rank: 1 } } } }],
    trace: { collection: 'default', candidates: [{ source: 'docs/a.md', rank: 1 }] },
  })
  const strange = 'Which lamp won the football world cup in Mexico, by which goals, penalty, referee, coach and trophy?'
  const ask = await command(project, ['ask', strange, '--agent', 'docs'])
  expect(ask.stdout).toContain('nothing in it fits this question')
  const silent = await command(project, ['knowledge', 'explain', strange])
  expect(silent.stdout).toMatch(
    /^ {2}fit {7}0\.\d\d \(0\.50 to be quoted\) {2}coverage .* similarity .* agreement .* lead /m,
  )
  expect(silent.stdout).toMatch(/^ {2}silent {4}The passages do not fit the question\. \(0\.\d\d, needed 0\.50\)$/m)
  const { trace, abstained } = JSON.parse((await command(project, ['knowledge', 'explain', strange, '--json'])).stdout)
  const { score, threshold, coverage, similarity, agreement, lead } = trace.fit
  expect(abstained).toEqual({ reason: 'The passages do not fit the question.', score, threshold })
  for (const part of [coverage, similarity, agreement, lead]) expect(part).toEqual(expect.any(Number))
  expect(json.abstained).toBeUndefined()
  const none = await command(project, ['knowledge', 'explain', 'lamp', '--filter', 'source^=doc'])
  expect(none).toMatchObject({ code: 0, stderr: expect.stringContaining('Nothing found.') })
  for (const [wrong, message] of [
    [['explain'], 'Say what to search for'],
    [['explain', 'lamp', '--filter', 'a>b'], '--filter: a.gt must be a number, or an ISO date'],
    [['status', '--agent', 'docs'], '--agent can only be used with explain.'],
    [['list', 'lamp'], 'list takes no documents.'],
  ] as const)
    expect(await command(project, ['knowledge', ...wrong])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    })
})

test('shows what is kept of a document, and what there is to choose from', async () => {
  const { stdout, code } = await command(project, ['knowledge', 'show', 'docs/a.md'])
  expect(code).toBe(0)
  const id = /^document +(doc_\w+)$/m.exec(stdout)?.[1] ?? ''
  expect(stdout).toMatch(/^source +docs\/a\.md$/m)
  expect(stdout).toMatch(/^chunks +1 \(markdown, 1000 characters, overlap 100\)$/m)
  const json = await command(project, ['knowledge', 'show', id, '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ document_id: id, source: 'docs/a.md', chunk_count: 1 })
  expect((await command(project, ['knowledge', 'list'])).stdout).toMatch(
    new RegExp(`^SOURCE .*\\ndocs/a.md .* ${id}$`, 'm'),
  )
  expect(await command(project, ['knowledge', 'show', 'docs/none.md'])).toMatchObject({ code: 1, stdout: '' })
  expect(await command(project, ['knowledge', 'show'])).toMatchObject({ code: 2, stdout: '' })
  const config = await command(project, ['knowledge', 'config'])
  expect(config.stdout).toMatch(/^embedder +lexical .*\(\d+ dimensions\)$/m)
  expect(config.stdout).toMatch(/^CHUNKER .*\n(?:.*\n)*markdown /m)
  expect(JSON.parse((await command(project, ['knowledge', 'config', '--json'])).stdout)).toHaveProperty('readers')
})

test('lists agents and shows one', async () => {
  const list = await command(project, ['agents', 'list'])
  expect(list.stdout).toMatch(/^ID +KIND +MODEL .*\ndocs +agent +offline +yes/)
  expect((await command(project, ['agents'])).stdout).toBe(list.stdout)
  const { stdout } = await command(project, ['agents', 'show', 'docs'])
  expect(stdout).toMatch(/^id +docs\nkind +agent\nmodel +offline\nknowledge +yes\n/)
  expect(JSON.parse((await command(project, ['agents', 'show', 'docs', '--json'])).stdout)).toMatchObject({
    id: 'docs',
  })
  expect(await command(project, ['agents', 'show', 'nobody'])).toMatchObject({ code: 1, stdout: '' })
  expect((await command(project, ['agents', 'show'])).code).toBe(2)
  expect((await command(project, ['agents', 'list', 'docs'])).code).toBe(2)
})

test('finds a running server that has moved its routes', async () => {
  const server = await serve(project, 'start')
  expect(await status()).toMatchObject({ documents: 1 })
  const { stdout } = await command(project, ['chat', 'docs', '--message', 'When does the keeper light the lamp?'])
  expect(stdout).toContain('docs/a.md:3')
  expect((await server.stop()).code).toBe(0)
  await expect(project.read('.agentserve/server.json')).rejects.toThrow()
})

test('reads text in an encoding that is named, when the text alone does not tell', async () => {
  const text = Buffer.from('d1fae5f8fc20e5f9b820fdf2e8f520ecffe3eae8f520f4f0e0edf6f3e7f1eae8f520e1f3ebeeea', 'hex')
  await writeFile(join(project.folder, 'docs/tea.txt'), text)
  const unknown = await command(project, ['ingest', 'docs/tea.txt'])
  expect(unknown).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("docs/tea.txt can't be read: it is not UTF-8"),
  })
  expect((await command(project, ['ingest', 'docs/tea.txt', '--encoding', 'cp1251'])).code).toBe(0)
  const { stdout } = await command(project, ['search', '--mode', 'keyword', 'мягких', '--json'])
  expect(stdout).toContain('Съешь ещё этих мягких')
  expect(await command(project, ['ingest', 'docs', '--encoding', 'none'])).toMatchObject({ code: 2 })
})
