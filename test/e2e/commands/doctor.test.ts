import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { Finding } from '../../../src/cli/commands/doctor/finding.ts'
import { checkLibrary, checkNode } from '../../../src/cli/commands/doctor/machine.ts'
import { command, createProject, type Project, serve } from '../../support/program.ts'

let project: Project
afterEach(() => project?.remove())

const config = (more = '') => `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({ agents: { hello: agent({ instructions: 'Hello.' }) }, ${more} })
`

async function examine(env: Record<string, string> = {}): Promise<{ code: number | null; findings: Finding[] }> {
  const { code, stdout, stderr } = await command(project, ['doctor', '--json'], '', env)
  expect(stderr).toBe('')
  return {
    code,
    findings: stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Finding),
  }
}

const of = (findings: Finding[], check: string) => findings.filter((finding) => finding.check === check)

it('finds nothing wrong with a sound project, and leaves no data folder behind', async () => {
  project = await createProject({ 'agent.config.ts': config() })
  const { code, findings } = await examine()
  expect(code).toBe(0)
  expect([...new Set(findings.map(({ check }) => check))]).toEqual(
    expect.arrayContaining(['node', 'library', 'data', 'disk', 'config', 'port', 'model', 'embedder']),
  )
  expect(findings.filter(({ state }) => state === 'wrong')).toEqual([])
  expect(of(findings, 'data')).toMatchObject([{ state: 'ok', message: expect.stringContaining('does not exist yet') }])
  expect(of(findings, 'model')[0]?.message).toMatch(/^offline for hello: no model is configured/)
  expect(of(findings, 'openai')).toMatchObject([{ state: 'ok', message: 'http://127.0.0.1:8080/v1' }])
  expect(of(findings, 'mcp')).toMatchObject([{ state: 'ok', message: 'http://127.0.0.1:8080/mcp' }])
  expect(existsSync(join(project.folder, '.agentserve'))).toBe(false)
})

it('says what to do about a key and a package that are missing, and never shows a key', async () => {
  project = await createProject({ 'agent.config.ts': config("model: 'openai/gpt-5.4-mini'") })
  const { code, findings } = await examine()
  expect(code).toBe(1)
  expect(of(findings, 'model')).toEqual([
    {
      check: 'model',
      state: 'wrong',
      message: 'openai/gpt-5.4-mini for hello: needs the package @ai-sdk/openai',
      fix: 'npm install @ai-sdk/openai',
    },
  ])
  await project.write('agent.config.ts', config())
  const found = of((await examine({ OPENAI_API_KEY: 'sk-not-to-be-seen' })).findings, 'model')
  expect(found).toContainEqual(
    expect.objectContaining({ state: 'warning', message: expect.stringContaining('OPENAI_API_KEY is set') }),
  )
  expect(JSON.stringify(found)).not.toContain('sk-not')
})

it('says which line of a config is wrong, and goes on with nothing that rests on it', async () => {
  project = await createProject({ 'agent.config.ts': 'export default {\n  agents: }\n' })
  const { code, findings } = await examine()
  expect(code).toBe(1)
  expect(findings.at(-1)).toMatchObject({
    check: 'config',
    state: 'wrong',
    message: expect.stringMatching(/agent\.config\.ts:2/),
  })
  const plain = await command(project, ['doctor'])
  expect(plain.stdout).toMatch(/^wrong {4}config {6}agent\.config\.ts:2: (?:.*\n)+ {21}→ fix what the message says$/m)
})

it('says that a named port is taken, unless this project is served there', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  project = await createProject({ 'agent.config.ts': config(`server: { address: '127.0.0.1:${port}' }`) })
  const { code, findings } = await examine()
  expect({ code, port: of(findings, 'port') }).toMatchObject({
    code: 1,
    port: [{ state: 'wrong', message: `${port} is in use` }],
  })
  taken.close()
  await once(taken, 'close')
  const server = await serve(project, 'start', ['--port', String(port)])
  try {
    const now = await examine()
    expect(of(now.findings, 'port')).toMatchObject([{ state: 'ok', message: `${port}, used by the running server` }])
    expect(of(now.findings, 'data')[0]?.message).toContain(`process ${server.child.pid}`)
    expect(of(now.findings, 'knowledge')).toMatchObject([{ state: 'ok', message: '0 documents, 0 chunks, 0 vectors' }])
  } finally {
    await server.stop()
  }
})

it('tells a Node that is too old and a library that does not load', async () => {
  expect(checkNode('22.18.0')).toMatchObject({ state: 'wrong', fix: 'install Node 22.19 or newer' })
  expect(checkNode('23.0.0').state).toBe('ok')
  expect(await checkLibrary('no-such-library', 'does nothing')).toMatchObject({ state: 'wrong' })
  const load = () => Promise.reject(new Error('no such file\nmore of it'))
  expect(await checkLibrary('LanceDB', 'keeps vectors', load)).toMatchObject({
    state: 'wrong',
    message: 'LanceDB does not load (keeps vectors): no such file',
  })
})
