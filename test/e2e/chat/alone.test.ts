import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { command, createProject, type Project, serve } from '../../support/program.ts'
import { openPty, type Pty, type PtyOptions } from '../../support/pty.ts'

let project: Project
let terminal: Pty | undefined

afterEach(async () => {
  await terminal?.close()
  terminal = undefined
  await project.remove()
})

const documents = {
  'boats.md':
    '# Boats\n\n## How to rent a boat\n\nA boat costs 12 euros an hour.\nThe desk\nat the pier opens at nine.\n\n## Deposit\n\nThe deposit is 50 euros.\n',
  'faq.md': '# Questions\n\n## May dogs come along?\n\nDogs may come along on a lead.\n',
  'swim.md': '# Swimming\n\n## Getting a towel\n\nA towel costs 3 euros a day.\n',
}

/** `agentserve` alone in a terminal. */
function start(options: PtyOptions = {}): Pty {
  terminal = openPty(project, [], { columns: 80, rows: 40, ...options })
  return terminal
}

const idle = (pty: Pty) => pty.screen().some((line) => line.startsWith('Enter sends'))

test('alone it says who answers from which files, and offers three questions that they answer', async () => {
  project = await createProject(documents)
  const pty = start()
  await pty.until('  3  ')
  expect(pty.text()).toMatch(
    /^agentserve \d.*\n {2}agent +docs: Answers from the files in this folder\.\n {2}model +none: the answers are quotes from the documents\n {2}session +ses_\w{26} \(new\)\n {2}data +\.agentserve\n {2}also +echo/m,
  )
  expect(pty.text()).toContain('  Answers from 3 files: boats.md, faq.md, swim.md\n')
  expect(pty.text()).toMatch(
    /run this and start again:\n {2}echo "export default \{ model: '\S+' \}" > agent\.config\.ts\n/,
  )
  expect(pty.text()).toMatch(
    /❯ 1 {2}May dogs come along\?\n {2}2 {2}How do I rent a boat\?\n {2}3 {2}How do I get a towel\?\n/,
  )
  pty.send('\r')
  await pty.until(/> May dogs come along\?[\s\S]*Dogs may come along on a lead\.\n+\[1\] faq\.md:5/)
  expect(pty.screen().join('\n')).not.toContain('❯')
  pty.send('\x03')
  expect(await pty.exited).toMatchObject({ code: 130 })
})

test.each([
  ['Down', [['\x1b[B', '❯ 2']], 'How do I rent a boat?'],
  [
    'Tab, twice, and Up',
    [
      ['\t', '❯ 2'],
      ['\t', '❯ 3'],
      ['\x1b[A', '❯ 2'],
    ],
    'How do I rent a boat?',
  ],
  ['Shift-Tab', [['\x1b[Z', '❯ 3']], 'How do I get a towel?'],
  ['a number', [['3', '> 3']], 'How do I get a towel?'],
  ['typed text', [['What is the deposit?', '> What']], 'What is the deposit?'],
])('a question is chosen by %s', async (_, keys, asked) => {
  project = await createProject(documents)
  const pty = start()
  await pty.until('  3  ')
  for (const [key = '', shows = ''] of keys) {
    pty.send(key)
    await pty.until((now) => now.screen().join('\n').includes(shows))
  }
  pty.send('\r')
  await pty.until((now) => now.text().includes(`> ${asked}\n`))
  await pty.until(/\[1\] \w+\.md:\d/)
})

test('typed text takes the place of the questions, and they are back without it', async () => {
  project = await createProject(documents)
  const pty = start()
  await pty.until('❯ 1')
  pty.send('10 boats')
  await pty.until(
    (now) => now.screen().some((line) => line.startsWith('> 10 boats')) && !now.screen().join('\n').includes('❯'),
  )
  pty.send('\x15')
  await pty.until((now) => now.screen().join('\n').includes('❯ 1'))
  pty.send('2')
  await pty.until('❯ 2')
})

test('a dumb terminal gets the same in lines, without escape codes', async () => {
  project = await createProject(documents)
  const pty = start({ env: { TERM: 'dumb' } })
  await pty.until('Type a question, or a number')
  expect(pty.text()).toMatch(
    /Answers from 3 files: boats\.md, faq\.md, swim\.md\n1 {2}May dogs come along\?\n2 {2}How do I rent/,
  )
  pty.send('2\r')
  await pty.until(/A boat costs 12 euros an hour\.[\s\S]*\[1\] boats\.md:5/)
  pty.send('\x04')
  expect(await pty.exited).toMatchObject({ code: 0 })
  expect(pty.raw()).not.toContain('\x1b')
})

test('beside a README it says how many files it does not read, and a line of config reads them', async () => {
  project = await createProject({ ...documents, 'README.md': '# Pier\n\n## What is it?\n\nA pier with boats.\n' })
  const pty = start()
  await pty.until('❯ 1')
  expect(pty.text().replace(/\s+/g, ' ')).toContain(
    "Answers from 1 file: README.md 3 more files of this folder are not read. With knowledge: { sources: ['*.md'] } in agent.config.ts they are. Ask one",
  )
  pty.send('\x04')
  await pty.exited
  await pty.close()
  await project.write('agent.config.ts', "export default { knowledge: { sources: ['*.md'] } }")
  const next = start()
  await next.until('  Answers from 4 files: README.md, boats.md, faq.md, swim.md\n')
  expect(next.text()).not.toContain('not read')
})

test('it finds the server that runs', async () => {
  project = await createProject(documents)
  const server = await serve(project)
  try {
    const pty = start()
    await pty.until('  3  ')
    expect(pty.text()).toContain(`  server    ${server.url}\n`)
    pty.send('1\r')
    await pty.until('[1] faq.md:5')
    const { runs } = (await (await fetch(`${server.url}/api/v1/runs`)).json()) as { runs: object[] }
    expect(runs).toHaveLength(1)
  } finally {
    await server.stop()
  }
})

test('with a config whose first entity is a workflow that is what answers, without questions', async () => {
  project = await createProject({
    ...documents,
    'agent.config.ts': `import { defineConfig, workflow } from 'agentserve'
export default defineConfig({ workflows: { shout: workflow({ run: async ({ text }) => text.toUpperCase() }) } })\n`,
  })
  const pty = start()
  await pty.until(/ {2}workflow +shout\n {2}session/)
  await pty.until(idle)
  pty.send('hello\r')
  await pty.until(/shout\n\n?HELLO/)
  expect(pty.text()).not.toContain('❯')
})

test('one line in agent.config.ts gives the built-in agent a model', async () => {
  project = await createProject({ ...documents, 'agent.config.ts': "export default { model: 'ollama/none:1b' }" })
  const pty = start({ env: { OLLAMA_HOST: '127.0.0.1:1' } })
  await pty.until('  3  ')
  expect(pty.text()).toMatch(/ {2}model +ollama\/none:1b\n/)
  expect(pty.text()).not.toContain('start again')
})

test.each([
  ['in a home folder', documents, { home: true }, 'a home folder is never read'],
  ['in a folder without documents', {}, { home: false }, 'There are no documents here to ask'],
  [
    'when the config has no agents',
    { 'agent.config.ts': 'export default { agents: {} }' },
    {},
    'agent.config.ts has no agents',
  ],
])('it prints the help %s, and why', async (_, files, { home }: { home?: boolean }, reason) => {
  project = await createProject(files)
  const pty = start(home ? { env: { HOME: project.folder } } : {})
  await pty.until(reason)
  expect(pty.text()).toMatch(/Usage: agentserve[\s\S]*\n {2}dev /)
  expect(await pty.exited).toMatchObject({ code: 0 })
})

test('it prints the help at the top of the disk and without a terminal, and reads nothing', async () => {
  project = await createProject(documents)
  terminal = openPty({ folder: '/' }, [], { env: { AGENTSERVE_DATA: join(project.folder, 'data') } })
  await terminal.until('a home folder is never read')
  const { code, stdout, stderr } = await command(project, [])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^Usage: agentserve/)
  // Not there: neither has made it.
  await mkdir(join(project.folder, 'data'))
  await mkdir(join(project.folder, '.agentserve'))
})
