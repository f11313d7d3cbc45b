import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { linkJudges, pagePackages } from '../../support/judge-packages.ts'
import { type Installed, installPacked } from '../../support/packed.ts'
import { command, environment, type Project, root, serve } from '../../support/program.ts'

const run = promisify(execFile)
const tsc = join(root, 'node_modules/typescript/bin/tsc')

const templates = [
  { name: 'basic', id: 'docs', input: 'How do I add documents?', answer: 'docs/welcome.md' },
  { name: 'knowledge', id: 'handbook', input: 'What is the daily allowance abroad?', answer: '60 euros abroad' },
  { name: 'team', id: 'desk', input: 'When does the library close on Saturdays?', answer: 'fourteen' },
  { name: 'workflow', id: 'report', input: '{"topic":"green tea"}', answer: 'seventy degrees' },
  { name: 'chat-ui', id: 'docs', input: 'How long is the library open on Saturdays?', answer: 'fourteen' },
]

let installed: Installed

beforeAll(async () => {
  installed = await installPacked(['@types/node', 'undici-types', 'vite'])
  await linkJudges(installed.folder, pagePackages)
})
afterAll(() => installed?.remove())

function projectIn(folder: string): Project {
  return { folder, bin: installed.bin } as Project
}

async function nodeIn(folder: string, ...args: string[]): Promise<string> {
  try {
    return (await run(process.execPath, args, { cwd: folder, env: environment({}) })).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${args.join(' ')} failed:\n${stdout}${stderr}`)
  }
}

describe.each(templates)('the template $name, from the packed package', ({ name, id, input, answer }) => {
  let project: Project

  it('is written by init', async () => {
    const end = await command(projectIn(installed.folder), ['init', name, '--template', name])
    expect(end, end.stderr).toMatchObject({ code: 0, stdout: '' })
    project = projectIn(join(installed.folder, name))
    const manifest = JSON.parse(await readFile(join(project.folder, 'package.json'), 'utf8'))
    // An older Node, which finds no tests in TypeScript by itself, fails instead of passing without any.
    expect(manifest).toMatchObject({ name, scripts: { dev: 'agentserve dev', test: 'node --test "**/*.test.ts"' } })
    // A tool or a model of one's own is made with it.
    const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    expect(manifest.dependencies.ai).toBe(dependencies.ai)
    // npm asks about each package that brings an install script, and that a project does not name.
    expect(manifest.allowScripts).toEqual({
      'onnxruntime-node': false,
      protobufjs: false,
      sharp: true,
      sqlite3: true,
    })
    expect(await readFile(join(project.folder, '.env.example'), 'utf8')).toContain('AGENTSERVE_API_KEYS')
    expect(await readFile(join(project.folder, '.gitignore'), 'utf8')).toContain('.env')
  })

  it('type-checks', async () => {
    expect(await nodeIn(project.folder, tsc, '--noEmit')).toBe('')
  })

  it('passes its own tests', async () => {
    const report = await nodeIn(project.folder, '--test', '--test-reporter=tap')
    expect(report).toMatch(/^# pass [2-9]$/m)
    expect(report).toMatch(/^# fail 0$/m)
  })

  it('starts and answers', async () => {
    const server = await serve(project, 'dev')
    try {
      // The server takes the documents in by itself; this waits until they are there.
      expect(await command(project, ['ingest', 'docs'])).toMatchObject({ code: 0 })
      const end = await command(project, ['chat', id, '--message', input])
      expect(end, end.stderr).toMatchObject({ code: 0 })
      expect(end.stdout).toContain(answer)
    } finally {
      expect(await server.stop()).toMatchObject({ code: 0 })
    }
  })
})

it('the packages of a page are those that its template names', async () => {
  const read = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8'))
  const { dependencies, devDependencies } = await read('templates/chat-ui/_package.json')
  const named = { ...dependencies, ...devDependencies }
  const judges = await read('test/judges/package.json')
  expect(Object.fromEntries(pagePackages.map((name) => [name, named[name]]))).toEqual(
    Object.fromEntries(pagePackages.map((name) => [name, judges.dependencies[name]])),
  )
  expect(named.vite).toBe((await read('node_modules/vite/package.json')).version)
})

it('the package holds what a user needs, with what its README links to, and nothing more', async () => {
  const folders = new Set(installed.files.map((file) => (file.includes('/') ? file.split('/')[0] : file)))
  expect([...folders].sort()).toEqual(
    [
      'ATTRIBUTION.md',
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bin',
      'compose.yaml',
      'dist',
      'docs',
      'package.json',
      'templates',
    ].sort(),
  )
  expect(installed.files).toEqual(expect.arrayContaining(['dist/testing.d.ts', 'dist/static-table.bin']))
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]*)/g)].map(([, path = '']) => path)
  // Who works on agentserve has the repository.
  expect(links.filter((path) => !installed.files.includes(path))).toEqual(['ARCHITECTURE.md', 'CONTRIBUTING.md'])
})
