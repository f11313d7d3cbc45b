import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Installed, installPacked, unpackPacked } from '../../support/packed.ts'
import { command, type Project, root } from '../../support/program.ts'

const source = join(root, 'packages/create-agentserve')
let installed: Installed
let files: string[]
let project: Project

beforeAll(async () => {
  installed = await installPacked()
  const companion = await unpackPacked(source, installed.folder)
  files = companion.files
  // As npm links the commands of what it installs.
  const bin = join(installed.folder, 'node_modules/create-agentserve-command')
  await symlink(join(companion.home, 'bin/create-agentserve.js'), bin)
  project = { folder: installed.folder, bin } as Project
})
afterAll(() => installed?.remove())

test('it is its program and its papers, and goes with the agentserve of its own version', async () => {
  const read = async (path: string) => JSON.parse(await readFile(join(path, 'package.json'), 'utf8'))
  const [own, main] = [await read(source), await read(root)]
  expect(files.sort()).toEqual(['LICENSE', 'README.md', 'bin/create-agentserve.js', 'package.json'])
  expect(own).toMatchObject({ version: main.version, license: main.license, engines: main.engines })
  expect(own.dependencies).toEqual({ agentserve: main.version })
  const licence = (folder: string) => readFile(join(folder, 'LICENSE'), 'utf8')
  expect(await licence(source)).toBe(await licence(root))
})

test('it writes the project that init writes', async () => {
  const init = { ...project, bin: installed.bin }
  const json = async (of: Project, folder: string, ...before: string[]) => {
    const end = await command(of, [...before, folder, '--template', 'team', '--json'])
    expect(end, end.stderr).toMatchObject({ code: 0, stderr: '' })
    return { ...JSON.parse(end.stdout), folder: '' }
  }
  expect(await json(project, 'created')).toEqual(await json(init, 'initialised', 'init'))
  const created = JSON.parse(await readFile(join(project.folder, 'created/package.json'), 'utf8'))
  expect(created).toMatchObject({ name: 'created', scripts: { dev: 'agentserve dev' } })
})

test('it says what to do next, and refuses a template that is not there', async () => {
  const end = await command(project, ['mine'])
  expect(end).toMatchObject({ code: 0, stdout: '' })
  expect(end.stderr).toMatch(
    /^Wrote \d+ files to .*mine\.\n\nNext:\n {2}cd mine\n {2}npm install\n[^(]*\(in another terminal\)/,
  )
  const wrong = await command(project, ['other', '--template', 'none'])
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('basic, knowledge, team, workflow')
})
