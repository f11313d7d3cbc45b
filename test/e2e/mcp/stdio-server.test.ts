import { afterEach, beforeEach, expect, it } from 'vitest'
import { type McpLines, speakMcp } from '../../support/mcp-lines.ts'
import { command, createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

const config = (id = 'first', server = '{}') => `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  server: ${server},
  knowledge: { sources: ['docs'] },
  agents: { ${id}: agent({ sideEffects: false, run: ({ text }) => [process.argv[2] + ' heard ' + text] }) },
})`
const keys = { operator: 'operator-key-0123456789', reader: 'reader-key-0123456789' }
const guarded = `{ auth: { keys: ['${keys.operator}', { key: '${keys.reader}', id: 'reader', scopes: ['knowledge:read'] }] } }`

let project: Project
const closing: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  project = await createProject({ 'agent.config.ts': config(), 'docs/a.md': '# Zebra\n\nZebras graze.\n' })
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  await project.remove()
})

async function start(name: 'dev' | 'start' = 'start'): Promise<RunningServer> {
  const server = await serve(project, name)
  closing.push(() => server.stop())
  return server
}

async function speak(args: string[] = [], env: Record<string, string> = {}): Promise<McpLines> {
  const lines = speakMcp(project, args, env)
  closing.push(async () => {
    lines.child.kill('SIGKILL')
    await lines.finished
  })
  await lines.open()
  return lines
}

const names = async (lines: McpLines) => (await lines.ask('tools/list')).result?.tools?.map(({ name }) => name)
const ask = async (lines: McpLines, message: string, tool = 'ask_first') => (await lines.call(tool, { message })).result

it('uses the server that runs', async () => {
  await start()
  const lines = await speak()
  expect((await ask(lines, 'a'))?.content?.[0]?.text).toBe('start heard a')
  lines.child.stdin?.end()
  expect(await lines.finished).toMatchObject({ code: 0, stderr: '' })
})

it('serves on when the server goes and comes, and says so when it went during a call', async () => {
  const lines = await speak()
  expect((await ask(lines, 'a'))?.content?.[0]?.text).toBe('mcp heard a')
  // The folder is free as soon as nothing is to do.
  const server = await start()
  expect((await ask(lines, 'b'))?.content?.[0]?.text).toBe('start heard b')
  await server.kill()
  const texts: string[] = []
  const answered = async () => {
    const text = (await ask(lines, 'c'))?.content?.[0]?.text ?? ''
    texts.push(text)
    return text
  }
  await expect.poll(answered, { timeout: 25_000 }).toBe('mcp heard c')
  for (const text of texts.slice(0, -1)) expect(text).toContain('The next call looks for a server again.')
  expect(texts.length).toBeLessThanOrEqual(2)
})

it('shows the agents of a server that has reloaded its config', async () => {
  await start('dev')
  const lines = await speak()
  expect(await names(lines)).toContain('ask_first')
  await project.write('agent.config.ts', config('second'))
  await expect.poll(() => names(lines), { timeout: 25_000 }).toContain('ask_second')
  expect((await ask(lines, 'd', 'ask_second'))?.content?.[0]?.text).toBe('dev heard d')
})

it('has the key of the config as other commands have, or the one it is given, with its scopes', async () => {
  await project.write('agent.config.ts', config('first', guarded))
  const server = await start()
  const operator = await speak()
  expect((await ask(operator, 'a'))?.content?.[0]?.text).toBe('start heard a')
  const reader = await speak([], { AGENTSERVE_KEY: keys.reader })
  expect(await names(reader)).toEqual(['search', 'fetch'])
  expect(await ask(reader, 'a')).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('scope') }] })
  expect((await reader.call('search', { query: 'zebra' })).result?.isError).toBeUndefined()
  const stranger = await speak(['--url', server.url, '--key', 'wrong-key-0123456789'])
  const refused = (await stranger.call('search', { query: 'x' })).result
  expect(refused?.isError).toBe(true)
  expect(refused?.content?.[0]?.text).toMatch(/key/i)
  for (const lines of [operator, reader, stranger])
    for (const key of Object.values(keys)) expect(lines.stdout() + lines.stderr()).not.toContain(key)
})

it('tells with each call that a named server can not be reached', async () => {
  const lines = await speak(['--url', 'http://127.0.0.1:1'])
  expect(await names(lines)).toEqual(['search', 'fetch'])
  const { result } = await lines.call('search', { query: 'x' })
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('127.0.0.1:1') }] })
})

it('waits for another command that uses the folder', async () => {
  const lines = await speak()
  const [answered, ended] = await Promise.all([ask(lines, 'both'), command(project, ['ingest', 'docs', '--json'])])
  expect(answered?.content?.[0]?.text).toBe('mcp heard both')
  expect(ended.code).toBe(0)
})
