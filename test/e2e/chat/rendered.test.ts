import { afterEach, beforeEach, expect, test } from 'vitest'
import { command, createProject, type Project } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'

let project: Project
let terminal: Pty | undefined

beforeEach(async () => {
  project = await createProject({
    'boats.md':
      '# Boats\n\n## Rent a boat\n\nA boat costs **12 euros** an hour, and the desk\nat the pier, which you pass on the way from the station to the harbour,\nopens at nine.\n\n' +
      '## Fees\n\nThese are the fees for boats:\n\n| boat | fee |\n|---|---|\n| canoe | 12 |\n| sail | 40 |\n',
  })
})
afterEach(async () => {
  await terminal?.close()
  terminal = undefined
  await project.remove()
})

test.each([
  ['ask', ['ask', 'How do I rent a boat?']],
  ['chat --message', ['chat', 'docs', '--message', 'How do I rent a boat?']],
])('%s fills the lines of a terminal with each paragraph, without marks', async (_, args) => {
  await command(project, ['ingest', 'boats.md'])
  terminal = openPty(project, args, { columns: 80 })
  expect(await terminal.exited).toMatchObject({ code: 0 })
  expect(terminal.text()).toBe(
    `No model is configured, so I quote what the knowledge base says.

A boat costs 12 euros an hour, and the desk at the pier, which you pass on the
way from the station to the harbour, opens at nine.
[1] boats.md:5`,
  )
  expect(terminal.raw()).toContain('\x1b[1m12 euros\x1b[22m')
})

test('the source of a table stands below it', async () => {
  await command(project, ['ingest', 'boats.md'])
  terminal = openPty(project, ['ask', 'What are the fees for boats?'], { columns: 80 })
  await terminal.exited
  expect(terminal.text()).toMatch(/boat +│ fee\n─+┼─+\ncanoe │ 12\nsail +│ 40\n+\[1\] boats\.md:\d+$/)
})

test.each([
  ['a pipe', 'pipe', {}],
  ['a dumb terminal', 'terminal', { TERM: 'dumb' }],
])('%s gets the answer as it is', async (_, kind, env) => {
  await command(project, ['ingest', 'boats.md'])
  const question = ['ask', 'How do I rent a boat?']
  if (kind === 'terminal') {
    terminal = openPty(project, question, { columns: 80, env })
    await terminal.exited
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is the point.
    expect(terminal.raw()).not.toMatch(/\x1b/)
  }
  const text = terminal?.text() ?? (await command(project, question)).stdout
  expect(text).toContain('A boat costs **12 euros** an hour, and the desk\nat the pier')
})
