import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolLoopAgent } from 'ai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { mcp } from '../../../src/runnables/mcp/mcp.ts'
import type { McpServer } from '../../../src/runnables/mcp/settings.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { openProject } from '../../../src/testing/project.ts'
import { answer, callTool, scripted } from '../../runnables/fixture.ts'

const fixture = join(import.meta.dirname, '../../fixtures/mcp-server.ts')
const node = process.execPath
let folder: string
const closing: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-approval-'))
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  await rm(folder, { recursive: true, force: true })
})

const child = (env: Record<string, string> = {}): McpServer => ({ command: node, args: [fixture], env })

async function overHttp(env: Record<string, string> = {}): Promise<McpServer> {
  const server = spawn(node, [fixture, '--http'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(server, 'exit')
  closing.push(() => {
    server.kill('SIGKILL')
    return ended
  })
  const [line] = await once(server.stdout, 'data')
  return { url: `http://127.0.0.1:${Number(String(line))}/mcp`, headers: { authorization: 'Bearer key-123456' } }
}

type Settings = Parameters<typeof agent>[0] & { tools?: object; toolApproval?: unknown }

async function open(settings: object, mcpServers: Record<string, McpServer> = {}) {
  const project = await openProject({ agents: { careful: agent(settings as Settings) }, mcpServers }, { root: folder })
  closing.push(() => project.close())
  return project
}

const add = () => scripted(callTool('calc_add', { a: 1, b: 2 }), answer('three'), answer('and so on'))
const plain = (execute = () => 'mine') => tool({ description: 'mine', inputSchema: z.object({}), execute })

/** Calls a tool that ends the connection, so that the next need makes another one. */
const ending = (name: string) => scripted(callTool(`calc_${name}`, {}), answer('ended'))

describe.each([
  ['over stdio', async (env?: Record<string, string>) => child(env), 'die'],
  ['over HTTP', overHttp, 'leave'],
] as const)('approvals of the tools of an MCP server %s', (_, server, end) => {
  it('hold for all of them by the name of the entry', async () => {
    const tools = { calc: mcp(await server()) }
    const project = await open({ model: add(), tools, toolApproval: { calc: 'user-approval' } })
    const paused = await project.run('careful', 'add')
    expect(paused).toMatchObject({ status: 'input_required', tool_calls: [{ name: 'calc_add' }] })
    expect(paused.tool_calls[0]).not.toHaveProperty('output')
    const done = await project.resume(paused.run_id, { approved: true })
    expect(done).toMatchObject({ status: 'completed', text: 'three', tool_calls: [{ output: '3' }] })
  })

  it("hold for one by the model's name, which counts before that of the entry", async () => {
    const tools = { calc: mcp(await server()) }
    const asks = { model: add(), tools, toolApproval: { calc_add: 'user-approval', calc: 'approved' } }
    expect(await (await open(asks)).run('careful', 'add')).toMatchObject({ status: 'input_required' })
    const lets = { model: add(), tools, toolApproval: { calc_add: 'approved', calc: 'user-approval' } }
    expect(await (await open(lets)).run('careful', 'add')).toMatchObject({ status: 'completed' })
  })

  it('are refused before the model is asked when a name is none of its tools', async () => {
    const calc = await server()
    for (const [settings, why] of [
      [
        { tools: { calc: mcp(calc) }, toolApproval: { calc_ad: 'user-approval' } },
        /`toolApproval` names 'calc_ad'.*did you mean 'calc_add'\?/,
      ],
      [
        { tools: { calc: mcp(calc, { needsApproval: ['ad'] }) } },
        /`needsApproval` of mcp\(\) names 'ad'.*did you mean 'add'\?/,
      ],
      [
        { tools: { calc: mcp(calc, { trusted: ['nothing-like-it'] }) } },
        /`trusted` of mcp\(\) names 'nothing-like-it'.*There are add, /,
      ],
    ] as const) {
      const model = add()
      const { status, error } = await (await open({ model, ...settings })).run('careful', 'add')
      expect(status).toBe('failed')
      expect(error?.message).toMatch(why)
      expect(error?.message).toContain("The entry 'calc' of `tools` brings no tools")
      expect(model.doStreamCalls).toHaveLength(0)
    }
  })

  it('are asked of all but the trusted ones', async () => {
    const trusting = async (trusted: string[]) =>
      (await (await open({ model: add(), tools: { calc: mcp(await server(), { trusted }) } })).run('careful', 'add'))
        .status
    expect(await trusting(['add'])).toBe('completed')
    expect(await trusting(['pid'])).toBe('input_required')
    expect(await trusting([])).toBe('input_required')
  })

  it('are not given when two tools have the same name for the model', async () => {
    const model = add()
    const tools = {
      a: mcp(await server({ EXTRA: 'b_x' }), { tools: ['b_x'] }),
      a_b: mcp(await server({ EXTRA: 'x' }), { tools: ['x'], needsApproval: true }),
    }
    const { status, error } = await (await open({ model, tools })).run('careful', 'go')
    expect(status).toBe('failed')
    expect(error?.message).toContain(
      "The tool 'b_x' of the entry 'a' and the tool 'x' of the entry 'a_b' have the same name",
    )
    expect(model.doStreamCalls).toHaveLength(0)
  })

  it('are asked for every call of a tool that says something else than when it was first listed', async () => {
    const about = join(folder, 'about')
    await writeFile(about, 'Adds')
    const tools = { calc: mcp(await server({ ABOUT: about }), { needsApproval: false }) }
    const agents = {
      before: agent({ model: add(), tools }),
      ending: agent({ model: ending(end), tools }),
      after: agent({ model: add(), tools }),
      approved: agent({ model: add(), tools, toolApproval: () => 'approved' }),
      denied: agent({ model: add(), tools, toolApproval: { calc: 'denied' } }),
    }
    const project = await openProject({ agents }, { root: folder })
    closing.push(() => project.close())
    expect(await project.run('before', 'add')).toMatchObject({ status: 'completed', tool_calls: [{ output: '3' }] })
    await writeFile(about, 'Adds, and tells somebody')
    await project.run('ending', 'end')
    const paused = await project.run('after', 'add')
    expect(paused).toMatchObject({ status: 'input_required' })
    expect(paused.events.find(({ type }) => type === 'input_required')).toMatchObject({
      prompt: expect.stringContaining('`agentserve doctor --accept-tools calc` confirms it'),
    })
    expect(await project.resume(paused.run_id, { approved: true })).toMatchObject({ tool_calls: [{ output: '3' }] })
    expect(await project.run('approved', 'add')).toMatchObject({ status: 'input_required' })
    const denied = await project.run('denied', 'add')
    expect(denied).toMatchObject({ status: 'completed', tool_calls: [{ error: 'The call was not approved.' }] })
  })
})

describe('approvals', () => {
  it('of our own tools are refused at load when a name is wrong', () => {
    const wrong = (more: object) => () => agent({ model: scripted(), tools: { wipe: plain() }, ...more } as Settings)
    expect(wrong({ toolApproval: { wype: 'user-approval' } })).toThrow(
      "agent(): `toolApproval` names 'wype', and there is no such tool; did you mean 'wipe'?",
    )
    expect(wrong({ toolApproval: { other: 'user-approval' } })).toThrow('There are wipe.')
    expect(wrong({ tools: {}, toolApproval: { wipe: 'denied' } })).toThrow('there is no such tool')
    expect(wrong({ toolApproval: { wipe: 'user-aproval' } })).toThrow(
      "has for 'wipe' 'user-aproval'; allowed: 'user-approval'",
    )
    expect(wrong({ toolApproval: 'user-approval' })).toThrow('must be a function, or an object of decisions by tool')
    expect(wrong({ toolApproval: { constructor: 'denied' } })).toThrow('there is no such tool')
    expect(wrong({ toolApproval: { wipe: 'user-approval' } })).not.toThrow()
    expect(wrong({ toolApproval: () => 'approved' })).not.toThrow()
    expect(wrong({ knowledge: { mode: 'tool' }, toolApproval: { search_knowledge: 'user-approval' } })).not.toThrow()
    const other = remoteAgent({ url: 'http://127.0.0.1:1', agentId: 'far' })
    expect(wrong({ tools: { other }, toolApproval: { other: 'user-approval' } })).not.toThrow()
    expect(wrong({ tools: { other }, toolApproval: { other_one: 'user-approval' } })).toThrow('there is no such tool')
    expect(wrong({ tools: { calc: mcp(child()) }, toolApproval: { clac_add: 'denied' } })).toThrow(
      'there is no such tool',
    )
  })

  it('of an agent of the AI SDK are looked at too', async () => {
    const hosted = (toolApproval: object) =>
      openProject(
        {
          agents: {
            it: new ToolLoopAgent({
              model: scripted(),
              tools: { wipe: plain() },
              toolApproval,
            } as object as ConstructorParameters<typeof ToolLoopAgent>[0]),
          },
        },
        { root: folder },
      )
    await expect(hosted({ wype: 'user-approval' })).rejects.toThrow("names 'wype'")
    await expect(hosted({ wipe: 'user-aproval' })).rejects.toThrow("'user-aproval'")
    await (await hosted({ wipe: 'user-approval' })).close()
  })

  it('refuse `needsApproval` and `trusted` together, and what is no list of names', () => {
    expect(() => mcp('calc', { needsApproval: ['a'], trusted: ['b'] })).toThrow('remove one of them')
    expect(() => mcp('calc', { needsApproval: [1] as unknown as string[] })).toThrow("the server's own name of a tool")
    expect(() => mcp('calc', { trusted: true as unknown as string[] })).toThrow("list of the server's own names")
  })

  it('fail the run when a function gives what is no decision', async () => {
    const done: string[] = []
    const wipe = plain(() => `${done.push('wiped')}`)
    for (const toolApproval of [() => 'user-aproval', { wipe: () => 'user-aproval' }]) {
      const project = await open({ model: scripted(callTool('wipe', {}), answer('x')), tools: { wipe }, toolApproval })
      await project.run('careful', 'go')
      expect(done).toEqual([])
    }
  })

  it('stay with a call that `prepareCall` makes ready, and its names are looked at', async () => {
    const wiped: string[] = []
    const wipe = plain(() => `${wiped.push('x')}`)
    const run = async (prepareCall: unknown, toolApproval: unknown = { wipe: 'user-approval' }) => {
      const model = scripted(callTool('wipe', {}), answer('x'))
      return (await open({ model, tools: { wipe }, toolApproval, prepareCall })).run('careful', 'go')
    }
    type Options = { toolApproval?: unknown; tools: object }
    expect(await run(({ toolApproval, ...rest }: Options) => rest)).toMatchObject({ status: 'input_required' })
    expect(await run((options: Options) => ({ ...options, toolApproval: { wype: 'user-approval' } }))).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining("names 'wype'") },
    })
    const more = (options: Options) => ({ ...options, tools: { ...options.tools, more: plain() } })
    expect(await run(more, { wipe: 'user-approval', more: 'user-approval' })).toMatchObject({
      status: 'input_required',
    })
    expect(await run(more, { wipe: 'user-approval', moer: 'denied' })).toMatchObject({ status: 'failed' })
    expect(wiped).toEqual([])
  })

  it('are not mixed up by a tool that takes the name of the search, or of another', async () => {
    const search = {
      model: scripted(answer('x')),
      knowledge: { mode: 'tool' },
      tools: { search: mcp(child({ EXTRA: 'knowledge' })) },
    }
    expect((await (await open(search)).run('careful', 'go')).error?.message).toContain("'search_knowledge'")
    const taken = { model: scripted(answer('x')), tools: { calc: mcp(child()), calc_add: plain() } }
    expect((await (await open(taken)).run('careful', 'go')).error?.message).toContain(
      "The tool 'add' of the entry 'calc' and the tool 'calc_add' have the same name",
    )
  })

  it('do not let two members of a team pass for each other', () => {
    const member = (name: string) => agent({ name, run: () => name })
    expect(() => team({ mode: 'lead', model: scripted(), members: [member('a b'), member('a_b')] })).toThrow(
      "the members 'a b' and 'a_b' have the same name for the model, 'ask_a_b'",
    )
  })

  it('hold for the tool as it was when somebody was asked', async () => {
    const about = join(folder, 'about')
    const resumed = async (later: string) => {
      await writeFile(about, 'Adds')
      const calc = child({ ABOUT: about })
      const agents = {
        careful: agent({ model: add(), tools: { calc: mcp(calc, { needsApproval: true }) } }),
        ending: agent({ model: ending('die'), tools: { calc: mcp(calc) } }),
      }
      await using project = await openProject({ agents }, { root: folder })
      const paused = await project.run('careful', 'add')
      expect(paused.status).toBe('input_required')
      await writeFile(about, later)
      await project.run('ending', 'end')
      return await project.resume(paused.run_id, { approved: true })
    }
    expect(await resumed('Adds')).toMatchObject({ text: 'three', tool_calls: [{ output: '3' }] })
    const changed = "The tool 'calc_add' has changed since the call was asked for, so the call was not made."
    expect(await resumed('Adds, and tells somebody')).toMatchObject({ text: 'three', tool_calls: [{ error: changed }] })
    const gone = "The tool 'calc_add' is gone, so the call was not made."
    expect(await resumed('')).toMatchObject({ text: 'three', tool_calls: [{ error: gone }] })
  })
})
