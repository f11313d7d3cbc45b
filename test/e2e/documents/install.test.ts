import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Installation, install, pack } from '../../support/installation.ts'
import { tinyModelName, writeTinyModel } from '../../support/knowledge/tiny-model.ts'
import { command, type Project, root, serve } from '../../support/program.ts'

const addIt =
  /run 'npm install --save-exact --ignore-scripts @huggingface\/transformers@\d+\.\d+\.\d+', then start again/
const binary = 'node_modules/sqlite3/build/Release/node_sqlite3.node'
let folder: string
let project: Project
let installation: Installation
let env: Record<string, string>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-install-'))
  const home = join(folder, 'project')
  env = { XDG_CACHE_HOME: join(folder, 'cache') }
  // What `npm ci` has fetched is taken from npm's cache, and what it has compiled is not compiled again.
  installation = await install(home, ['--prefer-offline', '--ignore-scripts', await pack(folder)])
  await mkdir(join(home, binary, '..'), { recursive: true })
  await copyFile(join(root, binary), join(home, binary))
  await mkdir(join(home, 'docs'))
  await writeFile(join(home, 'docs/lamp.md'), '# Lamp\n\nThe lamp burns paraffin.\n')
  project = { folder: home, bin: join(home, 'node_modules/agentserve/bin/agentserve.js') } as Project
}, 300_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

it('brings few packages, none of them for sentence models, and is small', () => {
  const { packages, megabytes } = installation
  expect(packages.filter((name) => /transformers|onnx|openai|apache-arrow/.test(name))).toEqual([])
  expect(packages.filter((name) => name.startsWith('@lancedb/'))).toHaveLength(1)
  expect(packages.length).toBeLessThanOrEqual(140)
  expect(megabytes).toBeLessThanOrEqual(310)
})

it('serves, keeps vectors, and gives the command that adds sentence models', async () => {
  const server = await serve(project, 'dev', [], env)
  try {
    expect(await command(project, ['ingest', 'docs'], '', env)).toMatchObject({ code: 0 })
    const found = await command(project, ['search', '--mode', 'vector', '--json', 'lamp'], '', env)
    expect(found, found.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('docs/lamp.md') })
    const reindex = await command(project, ['knowledge', 'reindex', '--embedder', 'transformers'], '', env)
    expect(reindex).toMatchObject({ code: 1, stderr: expect.stringMatching(addIt) })
  } finally {
    expect(await server.stop()).toMatchObject({ code: 0 })
  }
  const doctor = await command(project, ['doctor'], '', env)
  expect(doctor, doctor.stdout).toMatchObject({ code: 0, stdout: expect.stringContaining('LanceDB loads') })
  expect(doctor.stdout.replace(/\n {20}/g, ' ')).toMatch(addIt)
})

it('finds words, and says what to do, when the native code of LanceDB is not there', async () => {
  const [home, away] = [join(project.folder, 'node_modules/@lancedb'), join(folder, 'lancedb')]
  await rename(home, away)
  const server = await serve(project, 'dev', [], env)
  try {
    const found = await command(project, ['search', '--json', 'lamp'], '', env)
    expect(found, found.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('docs/lamp.md') })
    const near = await command(project, ['search', '--mode', 'vector', 'lamp'], '', env)
    expect(near).toMatchObject({ code: 1, stderr: expect.stringContaining('LanceDB does not load') })
    const doctor = await command(project, ['doctor'], '', env)
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining('install agentserve again with its opt') })
  } finally {
    await server.stop()
    await rename(away, home)
  }
  const again = await command(project, ['search', '--mode', 'vector', '--json', 'lamp'], '', env)
  expect(again, again.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('docs/lamp.md') })
})

it('says so when a collection was made with sentence models, and finds words meanwhile', async () => {
  await writeTinyModel(join(folder, 'cache/agentserve/models'))
  await writeFile(
    join(project.folder, 'agent.config.js'),
    `export default { server: { embedding: { model: '${tinyModelName}' } }, knowledge: { sources: ['docs'] } }`,
  )
  const withModels = { ...project, bin: join(root, 'bin/agentserve.js') }
  const made = await command(withModels, ['knowledge', 'reindex', '--embedder', 'transformers'], '', env)
  expect(made, made.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(tinyModelName) })

  const server = await serve(project, 'dev', [], env)
  try {
    expect(server.stderr() + server.stdout()).toMatch(addIt)
    const found = await command(project, ['search', '--json', 'lamp'], '', env)
    expect(found, found.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('docs/lamp.md') })
    const near = await command(project, ['search', '--mode', 'vector', 'lamp'], '', env)
    expect(near).toMatchObject({ code: 1, stderr: expect.stringMatching(addIt) })
  } finally {
    expect(await server.stop()).toMatchObject({ code: 0 })
  }
  const doctor = await command(project, ['doctor', '--json'], '', env)
  expect(doctor.code).toBe(1)
  const findings = doctor.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(findings).toContainEqual(
    expect.objectContaining({ check: 'embedder', state: 'wrong', fix: expect.stringMatching(addIt) }),
  )
})
