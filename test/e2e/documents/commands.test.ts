import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, cp, readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { transformersVersion } from '../../../src/core/version.ts'
import { blocks, commandsOf, findBlocks, readAll } from '../../support/guides.ts'
import { linkJudges, linkOwn, pagePackages } from '../../support/judge-packages.ts'
import { command, createProject, environment, type Project, root, serve } from '../../support/program.ts'

const run = promisify(execFile)
const papers = await readAll(['CONTRIBUTING.md', 'packages/create-agentserve/README.md'])
const shell = [...blocks, ...[...papers].flatMap(([name, text]) => findBlocks(name, text))].filter(
  ({ language }) => language === 'sh',
)
const commands = shell.flatMap(({ place, text }) => commandsOf(text).map((line) => ({ place, line })))

const starts = /^npx agentserve (?:dev|start)\b/
const pipes = /^echo "([^"]*)" \| npx agentserve /
const creates = /^npm create agentserve@latest |^npx agentserve init /
/** Run here: servers and pipes alone, new projects with all lines of their block. */
const here = (line: string) => starts.test(line) || pipes.test(line) || creates.test(line) || line === 'cd my-agents'
/** Run by guides.test.ts. */
const there = (line: string) => /^curl |^npx agentserve /.test(line)
/** Not run, with the reason. */
const notRun: Record<string, string> = {
  'npm ci': 'it fetches packages, and has been run where this test runs',
  'npm install': 'it fetches packages; a project finds those of the folder above',
  'ONNXRUNTIME_NODE_INSTALL=skip npm install': 'it fetches packages',
  'npm install @opentelemetry/exporter-trace-otlp-http':
    'so does this; test/e2e/serving/telemetry.test.ts runs without it and with it',
  'OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 npx agentserve start': 'it needs a collector; that test has one',
  'docker run --rm -p 16686:16686 -p 4318:4318 jaegertracing/jaeger:latest': 'it fetches an image',
  'go install github.com/CtrlSpice/otel-desktop-viewer@latest': 'it fetches a program',
  [`npm install --save-exact --ignore-scripts @huggingface/transformers@${transformersVersion}`]: 'it fetches packages',
  'npm test': 'in this repository, it is what runs this test; in a new project it is run',
  'npm run test:unit': 'it is part of npm test',
  'npm run test:e2e': 'so is this, and what runs this test',
  'npx vitest run test/store': 'part of npm test',
  'npx biome check --write src test': 'part of npm test',
  'npx tsc --noEmit': 'part of npm test',
  'npm run pictures': 'it writes files of the repository; what it makes is tested',
  'npm run prices': 'so does this; what it makes is tested',
}

test('every command of the documents is run, or stands here with the reason why not', () => {
  expect(commands.length).toBeGreaterThan(60)
  const lines = commands.map(({ line }) => line)
  expect(lines.filter((line) => !here(line) && !there(line) && notRun[line] === undefined)).toEqual([])
  expect(Object.keys(notRun).filter((line) => !lines.includes(line))).toEqual([])
  expect(lines.filter((line) => pipes.test(line))).toHaveLength(1)
})

let project: Project
beforeEach(async () => {
  project = await createProject()
  await cp(join(root, 'packages/create-agentserve'), join(project.folder, 'node_modules/create-agentserve'), {
    recursive: true,
  })
})
afterEach(() => project.remove())

const wordsOf = (line: string) => line.split(' ').slice(2)

test.each(commands.filter(({ line }) => starts.test(line)))('$place serves and stops: $line', async ({ line }) => {
  await project.write('open.sh', '#!/bin/sh\necho "$1" > opened.tmp && mv opened.tmp opened')
  await chmod(join(project.folder, 'open.sh'), 0o755)
  const [name, ...flags] = wordsOf(line.replace(/--port \d+/, '--port 0'))
  const env = { BROWSER: './open.sh', AGENTSERVE_API_KEYS: line.includes('--host') ? 'a-key-of-this-test' : '' }
  const server = await serve(project, name as 'dev' | 'start', flags, env)
  const { port } = new URL(server.url)
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
  if (flags.includes('--open')) {
    await expect.poll(() => existsSync(join(project.folder, 'opened')), { timeout: 10_000 }).toBe(true)
    expect(await project.read('opened')).toContain(server.url)
  }
  expect(await server.stop()).toMatchObject({ code: 0 })
})

test.each(commands.filter(({ line }) => pipes.test(line)))('$place takes what comes: $line', async ({ line }) => {
  const [, input = ''] = pipes.exec(line) ?? []
  const end = await command(project, line.split(' | npx agentserve ')[1]?.split(' ') ?? [], `${input}\n`)
  expect(end, end.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('No model is configured') })
})

const projects = shell.filter(({ text }) => commandsOf(text).some((line) => creates.test(line)))

test.each(projects)(
  'the new project of $place is made, passes its test and serves',
  async ({ text }) => {
    await linkOwn(project.folder, ['@types/node', 'undici-types', 'typescript', 'vite'])
    let folder = project.folder
    for (const line of commandsOf(text)) {
      if (line.startsWith('npm create')) await create(line.replace(' --', '').split(' ').slice(3))
      else if (line.startsWith('cd ')) folder = join(folder, line.slice(3))
      else if (line === 'npm test') await npm(folder, 'test')
      else if (starts.test(line)) {
        const server = await serve({ ...project, folder })
        expect(await server.stop()).toMatchObject({ code: 0 })
      } else if (notRun[line] === undefined) {
        const end = await command({ ...project, folder }, wordsOf(line))
        expect(end, `${line}: ${end.stderr}`).toMatchObject({ code: 0 })
      }
    }
    const made = join(project.folder, 'my-agents')
    expect(JSON.parse(await readFile(join(made, 'package.json'), 'utf8'))).toMatchObject({ name: 'my-agents' })
    if (text.includes('chat-ui')) await linkJudges(project.folder, pagePackages)
    await npm(made, 'run', 'types')
  },
  120_000,
)

async function create(args: string[]): Promise<void> {
  const bin = join(project.folder, 'node_modules/create-agentserve/bin/create-agentserve.js')
  const end = await command({ ...project, bin }, args)
  expect(end, end.stderr).toMatchObject({ code: 0 })
}

async function npm(cwd: string, ...args: string[]): Promise<void> {
  const tools = [dirname(process.execPath), join(root, 'node_modules/.bin')]
  const path = [...tools, process.env.PATH].join(delimiter)
  await run('npm', args, { cwd, env: environment({ PATH: path }) })
}
