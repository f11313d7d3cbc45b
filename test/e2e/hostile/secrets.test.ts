import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { examples } from '../../../src/wire/document/examples.ts'
import { createProject, serve } from '../../support/program.ts'

/* Secrets everywhere that a person puts them; then every operation, and every failure that might tell of one. */

const canary = (name: string) => `canary-${name}-5f3a91c7`
const environment = Object.fromEntries(
  [
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    'AWS_SECRET_ACCESS_KEY',
    'GITHUB_TOKEN',
    'NPM_TOKEN',
    'DATABASE_URL',
    'HF_TOKEN',
    'MY_SECRET',
  ].map((name) => [name, canary(name)]),
)
const inConfig = [
  'key',
  'users-key',
  'model',
  'endpoint',
  'embedding',
  'mcp',
  'remote',
  'remote-header',
  'summary',
  'tool',
]
const inRequest = ['wrong-bearer', 'wrong-key']
const all = [...inConfig, ...inRequest].map(canary).concat(Object.values(environment), canary('dotenv'))

const config = `
import { agent, defineConfig, mcp, remoteAgent, SummaryManager, tool } from 'agentserve'
import { z } from 'zod'
const nowhere = 'http://127.0.0.1:9/v1'
const printing = "process.stderr.write('starting with ' + process.env.TOKEN + '\\\\n'); process.exit(1)"
export default defineConfig({
  model: { baseURL: nowhere, model: 'm', apiKey: '${canary('model')}' },
  mcpServers: { broken: { command: process.execPath, args: ['-e', printing], env: { TOKEN: '${canary('mcp')}' } } },
  agents: {
    echo: agent({ sideEffects: false, async *run({ text }) { yield text } }),
    docs: agent({ knowledge: true }),
    endpoint: agent({ model: { baseURL: nowhere, model: 'other', apiKey: '${canary('endpoint')}' } }),
    openai: agent({ model: 'openai/gpt-none' }),
    tools: agent({ model: { baseURL: nowhere, model: 'm', apiKey: '${canary('tool')}' }, tools: { broken: mcp('broken') } }),
    remote: remoteAgent({
      url: 'http://127.0.0.1:9', agentId: 'x', apiKey: '${canary('remote')}', headers: { 'X-Secret': '${canary('remote-header')}' },
    }),
  },
  server: {
    debug: true,
    auth: { keys: ['${canary('key')}', { key: '${canary('users-key')}', userId: 'ann' }] },
    embedding: { provider: 'lexical', apiKey: '${canary('embedding')}' },
    summaryManager: new SummaryManager({ model: { baseURL: nowhere, model: 's', apiKey: '${canary('summary')}' }, timeout: '5s' }),
  },
})
`

/** Of a stream that does not end by itself. */
async function beginningOf({ body }: Response): Promise<string> {
  for await (const piece of body ?? []) return new TextDecoder().decode(piece)
  return ''
}

test('no secret is in any answer, in the log, or in a file of the data folder', { timeout: 120_000 }, async () => {
  expect(all.length).toBeGreaterThanOrEqual(20)
  const project = await createProject({ 'agent.config.ts': config, '.env': `FROM_FILE=${canary('dotenv')}\n` })
  try {
    const server = await serve(project, 'start', [], environment)
    const answers: string[] = []
    const ask = async (method: string, path: string, body?: unknown, key = canary('key')) => {
      const answer = await fetch(server.url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = path.endsWith('/live') ? await beginningOf(answer) : await answer.text()
      answers.push(`${method} ${path} ${answer.status} ${JSON.stringify([...answer.headers])} ${text}`)
      return { status: answer.status, text }
    }
    const document = JSON.parse((await ask('GET', '/openapi.json')).text)
    let called = 0
    for (const [template, methods] of Object.entries<Record<string, { requestBody?: unknown }>>(document.paths)) {
      for (const [method, { requestBody }] of Object.entries(methods)) {
        const name = JSON.stringify(requestBody ?? '').match(/schemas\/(\w+)/)?.[1] ?? ''
        for (const id of ['none', 'echo']) {
          await ask(method.toUpperCase(), template.replace(/\{\w+\}/g, id), requestBody && (examples[name] ?? {}))
          called++
        }
      }
    }
    expect(called).toBeGreaterThan(60)
    for (const agentId of ['docs', 'endpoint', 'openai', 'tools', 'remote']) {
      const { status } = await ask('POST', `/api/v1/agents/${agentId}/run`, { input: 'hello', session_id: undefined })
      expect([agentId, status]).toEqual([agentId, 500])
    }
    const { session_id: session } = JSON.parse((await ask('POST', '/api/v1/agents/echo/run', { input: 'hello' })).text)
    await ask('POST', `/api/v1/sessions/${session}/summary`)
    await ask('GET', `/api/v1/sessions/${session}/history?stream_events=true`)
    await ask('GET', '/api/v1/sessions', undefined, canary('wrong-bearer'))
    await ask('GET', '/api/v1/sessions', undefined, canary('users-key'))
    await fetch(`${server.url}/api/v1/sessions`, { headers: { 'x-api-key': canary('wrong-key') } })
    const { stdout, stderr } = await server.stop()

    const folder = join(project.folder, '.agentserve')
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
    expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['agentserve.db', 'knowledge.db']))
    const kept = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))
    const places = { answers: answers.join('\n'), stdout, stderr, files: kept.join('\n') }
    expect(stderr).toContain('starting with')
    const found = Object.entries(places).flatMap(([place, text]) =>
      all.filter((secret) => text.includes(secret)).map((secret) => `${secret} in ${place}`),
    )
    expect(found).toEqual([])
  } finally {
    await project.remove()
  }
})
