import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Logger } from '../../../src/core/logger.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { withDefaults } from '../../../src/runnables/base/defaults.ts'
import { McpConnection } from '../../../src/runnables/mcp/connection.ts'
import { createMcpServers, type McpServers, mcp } from '../../../src/runnables/mcp/mcp.ts'
import { type McpServer, serverSettings } from '../../../src/runnables/mcp/settings.ts'
import { openProject } from '../../../src/testing/project.ts'
import { answer, callTool, collect, fakeContext, scripted } from '../../runnables/fixture.ts'

const fixture = join(import.meta.dirname, '../../fixtures/mcp-server.ts')
const node = process.execPath
const key = 'key-123456'

let folder: string
let starts: string
let lines: { message: string | undefined; fields: object }[]
const closing: (() => Promise<unknown>)[] = []

const logger: Logger = {
  debug() {},
  info: (fields, message) => void lines.push({ message, fields }),
  warn: (fields, message) => void lines.push({ message, fields }),
  error() {},
}
const never = new AbortController().signal
const eventually = (check: () => unknown) => vi.waitFor(check, 20_000)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-mcp-'))
  starts = join(folder, 'starts')
  lines = []
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
  await rm(folder, { recursive: true, force: true })
})

const child = (env: Record<string, string> = {}, more: { timeout?: number } = {}): McpServer => ({
  command: node,
  args: [fixture],
  env: { STARTS: starts, ...env },
  ...more,
})

function connect(server: McpServer): McpConnection {
  const connection = new McpConnection('fixture', serverSettings.parse(server), folder, 8 * 1024 * 1024)
  closing.push(() => connection.close())
  return connection
}

const textOf = (result: object & { content?: unknown }) => (result.content as { text: string }[])[0]?.text ?? ''
const call = async (connection: McpConnection, name: string, input = {}, signal = never) =>
  textOf(await connection.call(name, input, logger, signal))
const started = async () =>
  (await readFile(starts, 'utf8').catch(() => '')).split('\n').filter((line) => /^\d+$/.test(line))
const sees = (text: string) => eventually(async () => expect(await readFile(starts, 'utf8')).toContain(text))

/** What was killed and has not been reaped is dead all the same. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
const isGone = (pid: string | undefined) => eventually(() => expect(isAlive(Number(pid))).toBe(false))

describe('an MCP server as a child process', () => {
  it('is started by the first need alone, lists its tools and answers calls', async () => {
    const connection = connect(child())
    expect(connection.knownTools).toBeUndefined()
    expect(await started()).toEqual([])
    const names = (await connection.tools(logger, never)).map(({ name }) => name)
    expect(names).toContain('add')
    expect(connection.knownTools?.map(({ name }) => name)).toEqual(names)
    expect(await Promise.all([1, 2, 3].map((b) => call(connection, 'add', { a: 1, b })))).toEqual(['2', '3', '4'])
    expect(await started()).toHaveLength(1)
  })

  it('is started once for many who need it at the same time', async () => {
    const connection = connect(child())
    await Promise.all(Array.from({ length: 8 }, () => connection.tools(logger, never)))
    expect(await started()).toHaveLength(1)
  })

  it('takes more at once than its stdin holds', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error) => void warnings.push(warning)
    process.on('warning', onWarning)
    closing.push(async () => process.off('warning', onWarning))
    const connection = connect(child())
    const large = 'x'.repeat(20_000)
    const calls = Array.from({ length: 100 }, (_, b) => call(connection, 'add', { a: 1, b, large }))
    expect(await Promise.all(calls)).toEqual(calls.map((_, b) => String(b + 1)))
    expect(warnings).toEqual([])
  })

  it('gets what is named of the environment, and no more', async () => {
    process.env.OUR_SECRET = 'do not leak'
    closing.push(async () => delete process.env.OUR_SECRET)
    const env = JSON.parse(await call(connect(child({ MINE: 'yes' })), 'env'))
    expect(env).toMatchObject({ MINE: 'yes', PATH: process.env.PATH })
    expect(env).not.toHaveProperty('OUR_SECRET')
    expect(env).not.toHaveProperty('VITEST')
  })

  it('speaks on stderr into the log, without control codes and secrets', async () => {
    await connect(child({ TOKEN: key })).tools(logger, never)
    await eventually(() => expect(lines).toHaveLength(1))
    expect(lines).toEqual([
      { message: 'MCP server wrote to stderr', fields: { mcp_server: 'fixture', text: 'ready, my key is ***' } },
    ])
  })

  it('tells the caller that it died in the middle of a call, and is there again for the next', async () => {
    const connection = connect(child())
    await expect(call(connection, 'die')).rejects.toThrow(
      "The MCP server 'fixture': during the call of 'die', it ended (exit code 7).",
    )
    expect(await call(connection, 'add', { a: 2, b: 2 })).toBe('4')
    expect(await started()).toHaveLength(2)
  })

  it('is left alone after five failures in a row, and given another chance when the config is read again', async () => {
    const lock = join(folder, 'lock')
    await writeFile(lock, '')
    const connection = connect(child({ FAIL_WHILE: lock }))
    for (let failure = 0; failure < 5; failure++) {
      await expect(connection.tools(logger, never)).rejects.toThrow('it did not start: it ended (exit code 3)')
    }
    await expect(connection.tools(logger, never)).rejects.toThrow(/it failed 5 times .* the next attempt is in \d+ s/)
    expect(await started()).toHaveLength(5)
    await rm(lock)
    connection.forgive()
    expect(await call(connection, 'add', { a: 1, b: 1 })).toBe('2')
  })

  it.each([
    [{ command: '/nowhere/to/be/found' }, /it did not start: there is no program '\/nowhere\/to\/be\/found'/],
    [{ command: node, cwd: 'nowhere' }, /it did not start: there is no folder '.*nowhere' to run it in/],
    [
      { command: node, args: ['-e', 'process.stdout.write("x".repeat(4e7)); setInterval(() => {}, 1000)'] },
      /it did not start: it sent a message of more than 8 MB, the limit `mcpMessage`/,
    ],
    [{ command: node, args: ['-e', 'setInterval(() => {}, 1000)'], startTimeout: 200 }, /not ready within 200 ms/],
    [{ command: node, args: ['-e', 'console.log("hello")'] }, /it did not start: it ended \(exit code 0\)/],
  ] as [McpServer, RegExp][])('says why it did not start: %j', async (server, words) => {
    await expect(connect(server).tools(logger, never)).rejects.toThrow(words)
  })

  it('may be slow to start; who waits for it may leave', async () => {
    const go = join(folder, 'go')
    const connection = connect(child({ WAIT_FOR: go }))
    const leaver = new AbortController()
    const left = connection.tools(logger, leaver.signal)
    const patient = connection.tools(logger, never)
    leaver.abort(new Error('I have to go'))
    await expect(left).rejects.toThrow('I have to go')
    await writeFile(go, '')
    expect(await patient).not.toEqual([])
    expect(await started()).toHaveLength(1)
  })

  it('is told when a call is cancelled, and goes on', async () => {
    const connection = connect(child())
    const own = new AbortController()
    const hanging = call(connection, 'hang', {}, own.signal)
    await sees('hanging')
    own.abort(new Error('enough'))
    await expect(hanging).rejects.toThrow('enough')
    await sees('stopped')
    expect(await call(connection, 'add', { a: 1, b: 2 })).toBe('3')
    expect(await started()).toHaveLength(1)
  })

  it('has a time limit for each call', async () => {
    const connection = connect(child({}, { timeout: 100 }))
    await connection.tools(logger, never)
    await expect(call(connection, 'hang')).rejects.toThrow("the call of 'hang' failed: Request timed out after 100ms")
    await sees('stopped')
  })

  it('is asked again for its tools when it says that they changed', async () => {
    const connection = connect(child())
    await call(connection, 'grow')
    await eventually(async () => {
      const tools = await connection.tools(logger, never)
      expect(tools.map(({ name }) => name)).toContain('grown')
    })
  })

  it('leaves no process behind when it is closed: not itself, not what it started, however stubborn', async () => {
    const connection = connect(child({ STUBBORN: '1' }))
    const helper = await call(connection, 'helper')
    const [pid] = await started()
    expect(isAlive(Number(helper))).toBe(true)
    await connection.close()
    expect(isAlive(Number(pid))).toBe(false)
    await isGone(helper)
    await expect(connection.tools(logger, never)).rejects.toThrow('it was closed')
  })

  it('takes what it started along when it dies', async () => {
    const connection = connect(child())
    const helper = await call(connection, 'helper')
    await expect(call(connection, 'die')).rejects.toThrow('exit code 7')
    await isGone(helper)
  })

  it('is closed while it starts', async () => {
    const connection = connect(child({ WAIT_FOR: join(folder, 'never') }))
    const waiting = connection.tools(logger, never)
    waiting.catch(() => {})
    await eventually(async () => expect(await started()).toHaveLength(1))
    await connection.close()
    await expect(waiting).rejects.toThrow('it was closed')
    await isGone((await started())[0])
  })
})

describe('an MCP server over HTTP', () => {
  async function open(port = 0): Promise<{ url: string; kill: () => Promise<unknown>; port: number }> {
    const server = spawn(node, [fixture, '--http'], {
      env: { ...process.env, PORT: String(port), STARTS: starts },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(server, 'exit')
    const kill = () => {
      server.kill('SIGKILL')
      return ended
    }
    closing.push(kill)
    const [line] = await once(server.stdout, 'data')
    return { url: `http://127.0.0.1:${Number(String(line))}/mcp`, kill, port: Number(String(line)) }
  }
  const headers = { authorization: `Bearer ${key}` }

  it('lists its tools and answers calls', async () => {
    const { url } = await open()
    const connection = connect({ url, headers })
    expect((await connection.tools(logger, never)).map(({ name }) => name)).toContain('add')
    expect(await call(connection, 'add', { a: 20, b: 22 })).toBe('42')
  })

  it('is told that the session is over when it is closed', async () => {
    const { url } = await open()
    const connection = connect({ url, headers })
    await connection.tools(logger, never)
    await connection.close()
    await sees('deleted')
  })

  it('may be one of before 2025, which streams over another connection', async () => {
    const { url } = await open()
    const connection = connect({ url: url.replace('/mcp', '/sse'), headers, type: 'sse' })
    expect(await call(connection, 'add', { a: 4, b: 5 })).toBe('9')
  })

  it.each(['/mcp', '/sse'])('is lost when it dies in the middle of a call, at %s', async (path) => {
    const { url, kill } = await open()
    const type = path === '/sse' ? ('sse' as const) : ('http' as const)
    const connection = connect({ url: url.replace('/mcp', path), headers, type })
    const hanging = call(connection, 'hang')
    hanging.catch(() => {})
    await sees('hanging')
    await kill()
    await expect(hanging).rejects.toThrow(/the call of 'hang'(?:, the connection broke| failed: fetch failed)/)
  })

  it('tells the caller when it ends the answer in good order without having given it', async () => {
    const { url } = await open()
    const connection = connect({ url, headers })
    await expect(call(connection, 'leave')).rejects.toThrow(/during the call of 'leave', the connection broke/)
    expect(await call(connection, 'add', { a: 1, b: 1 })).toBe('2')
  })

  it('is refused without the right key, which no message shows', async () => {
    const { url } = await open()
    const wrongKey = { authorization: 'Bearer not-the-right-one' }
    const error = await connect({ url, headers: wrongKey })
      .tools(logger, never)
      .catch((caught: Error) => caught)
    expect(String(error)).toContain('HTTP 401')
    expect(String(error)).not.toContain('not-the-right-one')
  })

  it('tells the caller when it dies in the middle of a call, and is found again on the same port', async () => {
    const first = await open()
    const connection = connect({ url: first.url, headers })
    const hanging = call(connection, 'hang')
    hanging.catch(() => {})
    await sees('hanging')
    await first.kill()
    await expect(hanging).rejects.toThrow(/the call of 'hang'(?:, the connection broke| failed: fetch failed)/)
    await expect(connection.tools(logger, never)).rejects.toThrow(/did not start: .*ECONNREFUSED/)
    await open(first.port)
    expect(await call(connection, 'add', { a: 1, b: 1 })).toBe('2')
  })

  it('makes a new session when the server has forgotten the old one', async () => {
    const first = await open()
    const connection = connect({ url: first.url, headers })
    await connection.tools(logger, never)
    await first.kill()
    await open(first.port)
    expect(await call(connection, 'add', { a: 3, b: 3 })).toBe('6')
  })

  it('is given up when it takes the connection and says nothing', async () => {
    const silent = createServer(() => {})
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    closing.push(async () => silent.close())
    const { port } = silent.address() as { port: number }
    const connection = connect({ url: `http://127.0.0.1:${port}/`, startTimeout: 200 })
    await expect(connection.tools(logger, never)).rejects.toThrow('it was not ready within 200 ms')
  })
})

describe('mcp() in an agent', () => {
  function open(named: Record<string, McpServer>): McpServers {
    const servers = createMcpServers(named, folder, 8 * 1024 * 1024)
    closing.push(() => servers.close())
    return servers
  }

  it('gives the agent the tools of a server of the config under the name of the entry', async () => {
    const model = scripted(callTool('files_add', { a: 1, b: 2 }), answer('three'))
    const bound = withDefaults(agent({ model, tools: { files: mcp('files') } }), { mcp: open({ files: child() }) })
    const { text, of, error } = await collect(bound, 'add')
    expect({ text, error }).toEqual({ text: 'three', error: undefined })
    expect(of('tool_call')).toMatchObject([{ name: 'files_add', input: { a: 1, b: 2 } }])
    expect(of('tool_result')).toMatchObject([{ name: 'files_add', output: '3' }])
    const { tools } = model.doStreamCalls[0] ?? {}
    expect(tools).toContainEqual(expect.objectContaining({ name: 'files_add', description: 'Adds two numbers' }))
  })

  it('records an error of a tool and tells it to the model', async () => {
    const model = scripted(callTool('x_refuse', {}), callTool('x_die', {}), answer('sorry'))
    const bound = withDefaults(agent({ model, tools: { x: mcp(child()) } }), { mcp: open({}) })
    const { text, of } = await collect(bound, 'go')
    expect(text).toBe('sorry')
    expect(of('tool_result').map(({ error }) => error?.message)).toEqual([
      'not today',
      expect.stringMatching(/during the call of 'die', it ended \(exit code 7\)/),
    ])
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt)).toContain('not today')
  })

  it('gives data as data', async () => {
    const model = scripted(callTool('x_facts', {}), answer('four'))
    const bound = withDefaults(agent({ model, tools: { x: mcp(child()) } }), { mcp: open({}) })
    expect((await collect(bound, 'go')).of('tool_result')).toMatchObject([{ output: { legs: 4 } }])
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt)).toContain('legs')
  })

  it('waits for somebody who allows a call, and makes it when the run goes on', async () => {
    const model = scripted(callTool('x_add', { a: 1, b: 2 }), answer('three'))
    const careful = agent({ model, tools: { x: mcp(child(), { needsApproval: ['add'] }) } })
    await using project = await openProject({ agents: { careful } })
    const paused = await project.run('careful', 'add')
    expect(paused).toMatchObject({ status: 'input_required', tool_calls: [{ name: 'x_add' }] })
    const { status, text, tool_calls } = await project.resume(paused.run_id, { approved: true })
    expect({ status, text }).toEqual({ status: 'completed', text: 'three' })
    expect(tool_calls).toMatchObject([{ name: 'x_add', output: '3' }])
  })

  it('hands pictures to the model as pictures', async () => {
    const model = scripted(callTool('x_picture', {}), answer('nice'))
    const bound = withDefaults(agent({ model, tools: { x: mcp(child()) } }), { mcp: open({}) })
    await collect(bound, 'look')
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt)).toContain('"mediaType":"image/png"')
  })

  it('keeps the names of two servers apart', async () => {
    const model = scripted(answer('ok'))
    const tools = { a: mcp(child(), { tools: ['add', 'pid'] }), b: mcp(child(), { tools: ['add'] }) }
    const bound = withDefaults(agent({ model, tools }), { mcp: open({}) })
    await collect(bound, 'go', fakeContext())
    const names = model.doStreamCalls[0]?.tools?.map(({ name }) => name)
    expect(names?.toSorted()).toEqual(['a_add', 'a_pid', 'b_add'])
    expect(await started()).toHaveLength(1)
  })

  it('shows no argument but the first in lists, since keys stand among them', () => {
    const { tools } = agent({
      tools: {
        a: mcp({ command: 'npx', args: ['-y', 'server-a', '--key', 'secret-1'] }),
        b: mcp({ url: 'http://b/?key=secret-2' }),
      },
    })
    expect(tools).toEqual([
      { name: 'a', description: 'Tools of the MCP server npx server-a' },
      { name: 'b', description: 'Tools of the MCP server b' },
    ])
  })

  it('names the agent and the server when the config lacks it', () => {
    const lost = agent({ model: scripted(), tools: { files: mcp('fils') } })
    expect(() => withDefaults(lost, { mcp: open({ files: child() }) })).toThrow(
      "There is no MCP server 'fils' in `mcpServers`; it has files.",
    )
  })

  it.each([
    [{}, 'must be { command, args, env, cwd } or { url, headers }'],
    [{ command: 'a', url: 'http://b' }, 'must have a `command` or a `url`, not both'],
    [{ command: 'a', env: { TOKEN: undefined } }, '`env.TOKEN` must be a text; is a variable not set?'],
    [{ url: 'ftp://a' }, '`url` must be an http or https address'],
    [{ command: 'a', comand: 1 }, "`comand` is not a setting; did you mean 'command'?"],
    [{ command: 'a', timeout: 'soon' }, '`timeout` must be milliseconds'],
  ])('refuses %j', (server, words) => {
    expect(() => mcp(server as McpServer)).toThrow(words)
  })

  it('keeps a server that two configs use until both have let go of it', async () => {
    const first = open({ files: child() })
    const second = open({ files: child() })
    const connection = first.get('files')
    expect(second.get('files')).toBe(connection)
    const pid = await call(connection, 'pid')
    await first.close()
    expect(await call(connection, 'pid')).toBe(pid)
    await second.close()
    await isGone(pid)
  })
})
