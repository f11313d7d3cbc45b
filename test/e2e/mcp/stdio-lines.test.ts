import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { expectMessagesOnly, type McpLines, speakMcp } from '../../support/mcp-lines.ts'
import { command, createProject, type Project } from '../../support/program.ts'

const printing = `
import { execFileSync } from 'node:child_process'
import { writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { agent, defineConfig } from 'agentserve'
console.log('NOISE import'); process.stdout.write('NOISE written at import\\n')
async function print() {
  console.log('NOISE console'); console.info({ noise: 'NOISE info' }); console.table(['NOISE'])
  process.stdout.write('NOISE write'); writeSync(1, 'NOISE descriptor\\n')
  execFileSync(process.execPath, ['-e', 'console.log("NOISE child")'], { stdio: 'inherit' })
  const worker = new Worker('console.log("NOISE worker"); process.stdout.write("NOISE in it")', { eval: true })
  await new Promise((resolve) => worker.once('exit', resolve))
  await new Promise((resolve) => process.stdout.write('NOISE last\\n', resolve))
}
export default defineConfig({
  knowledge: { sources: [] },
  agents: {
    loud: agent({ sideEffects: false, async *run({ text }) { await print(); yield 'heard ' + text } }),
    slow: agent({ sideEffects: false, async *run({ text, signal }) {
      console.log('NOISE waits ' + text)
      await new Promise((_, fail) => signal.addEventListener('abort', () => { console.error('SLOW STOPPED'); fail(signal.reason) }))
    } }),
    stray: agent({ sideEffects: false, async *run() { Promise.reject(new Error('STRAY')); await new Promise((r) => setImmediate(r)); yield 'ok' } }),
  },
})`

const started: McpLines[] = []
function speak(...given: Parameters<typeof speakMcp>): McpLines {
  const lines = speakMcp(...given)
  started.push(lines)
  return lines
}
afterEach(async () => {
  for (const { child, finished } of started.splice(0)) {
    child.kill('SIGKILL')
    await finished
  }
})

describe('a project with agents', () => {
  let project: Project
  beforeAll(async () => {
    project = await createProject({ 'agent.config.ts': printing })
  })
  afterAll(() => project.remove())

  it('prints messages only, whatever the config, agents, workers and programs print', async () => {
    const lines = speak(project)
    await lines.open()
    const { result } = await lines.call('ask_loud', { message: 'you' })
    expect(result?.content?.[0]?.text).toBe('heard you')
    lines.child.stdin?.end()
    const { code, stdout, stderr } = await lines.finished
    expect(code).toBe(0)
    expectMessagesOnly(stdout)
    expect(stdout).not.toContain('NOISE')
    for (const noise of [
      'import',
      'written at import',
      'console',
      'info',
      'write',
      'descriptor',
      'child',
      'worker',
      'in it',
      'last',
    ])
      expect(stderr).toContain(`NOISE ${noise}`)
  })

  it('ends with code 0 and stops what is under way when stdin ends', async () => {
    const lines = speak(project)
    await lines.open()
    lines.send('s', 'tools/call', { name: 'ask_slow', arguments: { message: 'long' } })
    await expect.poll(lines.stderr).toContain('NOISE waits long')
    lines.child.stdin?.end()
    expect(await lines.finished).toMatchObject({ code: 0, stderr: expect.stringContaining('SLOW STOPPED') })
    const { stdout } = await command(project, ['runs', 'list', '--json'])
    const [run = ''] = stdout.split('\n').filter((line) => line.startsWith('{"run_id"'))
    expect(JSON.parse(run)).toMatchObject({ entity_id: 'slow', status: 'cancelled' })
  })

  it('answers what came before the end of stdin', async () => {
    const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } }
    const input = [
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: opening },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
    ]
    const { code, stdout } = await command(
      project,
      ['mcp'],
      `${input.map((line) => JSON.stringify(line)).join('\n')}\n`,
    )
    expect(code).toBe(0)
    expect(
      stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).id),
    ).toEqual([1, 2])
  })

  it.each([
    ['SIGTERM', 0],
    ['SIGINT', 130],
  ] as const)('stops by %s with code %i, and the run is recorded', async (signal, code) => {
    const lines = speak(project)
    await lines.open()
    lines.send('s', 'tools/call', { name: 'ask_slow', arguments: { message: signal } })
    await expect.poll(lines.stderr).toContain(`NOISE waits ${signal}`)
    lines.child.kill(signal)
    expect((await lines.finished).code).toBe(code)
  })

  it('stops when nobody reads its output any more', async () => {
    const lines = speak(project)
    await lines.open()
    lines.child.stdout?.destroy()
    lines.send(9, 'ping')
    lines.send(10, 'ping')
    expect((await lines.finished).code).toBe(0)
  })

  it('refuses lines that are no messages, and goes on', async () => {
    const lines = speak(project)
    lines.write('garbage\n\n   \n{"jsonrpc":"2.0"\n[]\n{"jsonrpc":"1.0","id":1,"method":"x"}\n"text"\n\u0000\n')
    await lines.open()
    const refused = () =>
      lines
        .stdout()
        .split('\n')
        .filter((line) => line.includes('"id":null'))
    await expect.poll(() => refused().length).toBe(6)
    expect(
      refused()
        .map((line) => JSON.parse(line).error.code)
        .toSorted(),
    ).toEqual([-32700, -32700, -32700, -32600, -32600, -32600].toSorted())
    expect((await lines.ask('ping')).result).toEqual({})
    expectMessagesOnly(lines.stdout())
  })

  it('takes a message in pieces, and refuses one that is too large without ending', async () => {
    const lines = speak(project)
    await lines.open()
    const ten = { name: 'ask_loud', arguments: { message: 'x'.repeat(10_000_000) } }
    const { result } = await lines.ask('tools/call', ten)
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('1000000 characters') }] })
    for (let count = 0; count < 40; count++) lines.write('y'.repeat(1_000_000))
    lines.write('\n')
    expect((await lines.reply(null)).error?.code).toBe(-32_600)
    const cut = '{"jsonrpc":"2.0","id":"cut","method":"ping"}\n'
    for (const piece of cut.match(/.{1,9}|\n/g) ?? []) {
      lines.write(piece)
      await new Promise(setImmediate)
    }
    expect((await lines.reply('cut')).result).toEqual({})
  })

  it('answers fifty calls at once, each with its own answer', async () => {
    const lines = speak(project)
    await lines.open()
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => lines.call('ask_stray', { message: `m${index}` })),
    )
    expect(replies.every(({ result }) => result?.content?.[0]?.text === 'ok')).toBe(true)
    expect(new Set(replies.map(({ result }) => result?.structuredContent?.run_id)).size).toBe(50)
    expect(lines.stderr()).toContain('STRAY')
    expect((await lines.ask('ping')).result).toEqual({})
  })

  it('cancels the run of a cancelled call, and answers it no more', async () => {
    const lines = speak(project)
    await lines.open()
    lines.send('c', 'tools/call', { name: 'ask_slow', arguments: { message: 'never' } })
    await expect.poll(lines.stderr).toContain('NOISE waits never')
    lines.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}\n')
    await expect.poll(lines.stderr).toContain('SLOW STOPPED')
    await lines.ask('ping')
    expect(lines.stdout()).not.toContain('"id":"c"')
  })

  it('offers only the agents that are named', async () => {
    const lines = speak(project, ['--agent', 'loud', '--agent', 'nobody'])
    await lines.open()
    const names = (await lines.ask('tools/list')).result?.tools?.map(({ name }) => name)
    expect(names).toEqual(['search', 'fetch', 'ask_loud', 'get_run', 'answer_run', 'cancel_run'])
    expect(lines.stderr()).toContain("there is no agent 'nobody'")
    expect((await lines.call('ask_slow', { message: 'x' })).error?.code).toBe(-32_602)
  })

  it('leaves the folder to other commands and hosts while it has nothing to do', async () => {
    const [first, second] = [speak(project), speak(project)]
    await first.open()
    await second.open()
    expect((await first.call('ask_loud', { message: 'a' })).result?.content?.[0]?.text).toBe('heard a')
    expect((await second.call('ask_loud', { message: 'b' })).result?.content?.[0]?.text).toBe('heard b')
    expect((await command(project, ['agents', '--json'])).code).toBe(0)
    expect((await first.call('ask_loud', { message: 'c' })).result?.content?.[0]?.text).toBe('heard c')
  })

  it('serves the config as it is at the next call, and tells the host of new tools', async () => {
    const lines = speak(project)
    await lines.open()
    await lines.ask('tools/list')
    await project.write(
      'agent.config.ts',
      printing.replace('agents: {', "agents: { added: agent({ run: () => ['new'] }),"),
    )
    const list = async () => (await lines.ask('tools/list')).result?.tools?.map(({ name }) => name)
    await expect.poll(list, { interval: 2_500, timeout: 20_000 }).toContain('ask_added')
    expect(lines.notices().map(({ method }) => method)).toContain('notifications/tools/list_changed')
    await project.write('agent.config.ts', 'export default {\n  agents: {,\n}')
    const broken = async () => (await lines.call('ask_added', { message: 'x' })).result
    await expect
      .poll(broken, { interval: 2_500, timeout: 20_000 })
      .toMatchObject({ isError: true, content: [{ text: expect.stringContaining('agent.config.ts:2') }] })
    await project.write('agent.config.ts', printing)
    await expect.poll(async () => (await lines.call('ask_loud', { message: 'x' })).result?.isError).toBeUndefined()
  })
})

describe('a folder without a config', () => {
  let project: Project
  beforeAll(async () => {
    const files = Array.from({ length: 30 }, (_, index) => [
      `docs/g${index}.md`,
      `# Guide ${index}\n\nThe zebra${index} grazes.\n`,
    ])
    project = await createProject(Object.fromEntries(files))
  })
  afterAll(() => project.remove())

  it('searches and fetches its documents, the first call included', async () => {
    const lines = speak(project)
    expect((await lines.open()).result).toMatchObject({ serverInfo: { name: 'agentserve' } })
    const { result } = await lines.call('search', { query: 'zebra7' })
    const found = JSON.parse(result?.content?.[0]?.text ?? '')
    expect(found.results[0]).toMatchObject({ title: 'docs/g7.md' })
    const document = await lines.call('fetch', { id: found.results[0].id })
    expect(JSON.parse(document.result?.content?.[0]?.text ?? '').text).toContain('The zebra7 grazes.')
    await expect
      .poll(async () => (await lines.call('search', { query: 'zebra1' })).result?.structuredContent)
      .not.toHaveProperty('files_to_come')
  })

  it('finds a document that was added while the host is connected', async () => {
    const lines = speak(project)
    await lines.open()
    await lines.call('search', { query: 'zebra7' })
    await project.write('docs/later.md', '# Later\n\nA giraffe came.\n')
    const titles = async () => JSON.stringify((await lines.call('search', { query: 'giraffe' })).result)
    await expect.poll(titles, { interval: 3_000, timeout: 25_000 }).toContain('docs/later.md')
  })
})

it('searches the files directly in a folder that has neither docs nor a README', async () => {
  const project = await createProject({ 'letter.txt': 'A lynx was seen.\n', 'notes.md': '# Notes\n\nAn otter swam.\n' })
  try {
    const lines = speak(project)
    await lines.open()
    const { result } = await lines.call('search', { query: 'otter' })
    expect(JSON.parse(result?.content?.[0]?.text ?? '').results[0]).toMatchObject({ title: 'notes.md' })
    lines.child.stdin?.end()
    await lines.finished
  } finally {
    await project.remove()
  }
})

it('opens with a broken config, and its tools say what is wrong', async () => {
  const project = await createProject({ 'agent.config.ts': 'export default {\n  agents: {,\n}' })
  try {
    const lines = speak(project)
    expect((await lines.open()).result).toMatchObject({ serverInfo: { name: 'agentserve' } })
    expect((await lines.ask('tools/list')).result?.tools?.map(({ name }) => name)).toEqual(['search', 'fetch'])
    const { result } = await lines.call('search', { query: 'x' })
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('agent.config.ts:2') }] })
    lines.child.stdin?.end()
    expect((await lines.finished).code).toBe(0)
  } finally {
    await project.remove()
  }
})
