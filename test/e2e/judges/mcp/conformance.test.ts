import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { command, environment, root } from '../../../support/program.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { type JudgedServer, startJudged } from '../judged-server.ts'

/*
 * The scenarios of MCP's own conformance suite that are about a server like ours. The others want the tools, prompts and resources
 * of its fixture (`tools-call-*`, `elicitation-*`, `input-required-result-*`, `resources-read-*`, `json-schema-2020-12`,
 * `http-custom-header-server-validation`), or what we don't offer: prompts, completions, logging, subscriptions, sampling, tasks,
 * skills, and the sessions and resumed streams of 2025 (`server-session-lifecycle`, `server-sse-*`).
 */
const scenarios = {
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'resources-list', 'dns-rebinding-protection'],
  '2026-07-28': [
    'tools-list',
    'resources-list',
    'dns-rebinding-protection',
    'sep-2164-resource-not-found',
    'http-header-validation',
    'input-required-result-unsupported-methods',
    'server-stateless',
    'caching',
  ],
}

/** The checks that the suite can't make here, each for want of a tool of its fixture or of prompts. */
const notMade = new Set([
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2549-prompts-list-caching-hints',
])

interface Check {
  id: string
  name: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  errorMessage?: string
}

let judged: JudgedServer

beforeAll(async () => {
  judged = await startJudged({ 'docs/tea.md': '# Green tea\n\nGreen tea is brewed at seventy degrees.\n' })
  expect(await command(judged.project, ['ingest', 'docs'])).toMatchObject({ code: 0 })
})
afterAll(() => judged?.close())

const cli = join(root, 'test/judges/node_modules/@modelcontextprotocol/conformance/dist/index.js')

async function checksOf(scenario: string, version: string): Promise<Check[]> {
  await using folder = await temporaryFolder()
  const args = ['--url', `${judged.url}/mcp`, '--scenario', scenario, '--spec-version', version, '-o', folder.path]
  const child = spawn(process.execPath, [cli, 'server', ...args], { env: environment({}), stdio: 'pipe' })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  await new Promise((done) => child.once('close', done))
  const [result] = await readdir(folder.path)
  if (result === undefined) throw new Error(`The suite did not run (npm run judges): ${said}`)
  return JSON.parse(await readFile(join(folder.path, result, 'checks.json'), 'utf8')) as Check[]
}

describe.each(Object.entries(scenarios))('the conformance suite of MCP %s', (version, names) => {
  test.each(names)('finds no fault: %s', async (scenario) => {
    const checks = await checksOf(scenario, version)
    const failed = checks.filter(({ id, status }) => status === 'FAILURE' && !notMade.has(id))
    expect(failed.map(({ id, errorMessage }) => `${id}: ${errorMessage}`)).toEqual([])
    expect(checks.some(({ status }) => status === 'SUCCESS')).toBe(true)
  })
})
