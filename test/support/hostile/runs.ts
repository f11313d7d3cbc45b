import { ToolLoopAgent } from 'ai'
import fc from 'fast-check'
import { z } from 'zod'
import type { RunContext, Runnable } from '../../../src/core/runnable.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { hostAgent } from '../../../src/runnables/agent/host.ts'
import { withDefaults } from '../../../src/runnables/base/defaults.ts'
import { createMcpServers, mcp } from '../../../src/runnables/mcp/mcp.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { openScriptedServer } from '../scripted-server.ts'
import { openServices, request } from '../services.ts'
import { hostileEmission, hostileValue } from './values.ts'

/** One thing that goes wrong: where, and what with. */
interface Case {
  kind: string
  value: unknown
  emissions: unknown[]
}

const inputSchema = z.any()
const ok = agent({ name: 'ok', run: ({ text }) => `ok: ${text}` })
const toolCall = (name: string, input: unknown) =>
  scriptedModel({ tool_calls: [{ name, input: input as never }] }, 'done')
const throwing = (value: unknown) => () => {
  throw value
}

const oddTool = (execute: (input: unknown) => unknown) => tool({ inputSchema, execute } as never) as never

/** What a peer can send: JSON. */
function toWire(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return '"\\ud800"'
  }
}

interface Peers {
  /** An A2A server that streams the value as content. */
  remote: string
  /** An MCP server whose tool `odd` gives the value as its result. */
  mcp: string
}

type Make = (one: Case, peers: Peers) => Runnable

const emitting = ({ emissions }: Case) =>
  agent({
    name: 'emitting',
    async *run() {
      for (const emission of emissions) yield emission as never
    },
  })

/** Every kind of runnable, with the value in every place where it can have one. */
const makes: Record<string, Make> = {
  'an own agent that emits it': (one) => emitting(one),
  'an own agent that returns it': ({ value }) => agent({ run: () => value as never }),
  'an own agent that throws it': ({ value }) => agent({ run: throwing(value) }),
  'an own agent that emits it as text': ({ value }) => agent({ run: () => [value] as never }),
  'a model that calls a tool with it': ({ value }) =>
    agent({ model: toolCall('odd', value), tools: { odd: oddTool((input) => input) } }),
  'a tool that gives it': ({ value }) =>
    agent({ model: toolCall('odd', {}), tools: { odd: oddTool(async () => value) } }),
  'a tool that throws it': ({ value }) =>
    agent({ model: toolCall('odd', {}), tools: { odd: oddTool(throwing(value)) } }),
  'a model that says it': ({ value }) => agent({ model: scriptedModel({ text: value as never }) }),
  'a model that fails with it': ({ value }) => agent({ model: scriptedModel({ error: value as never }) }),
  'a lead that asks with it': ({ value }) => team({ mode: 'lead', members: [ok], model: toolCall('ask_ok', value) }),
  'a lead that asks with another field': ({ value }) =>
    team({ mode: 'lead', members: [ok], model: toolCall('ask_ok', { question: value }) }),
  'a lead that asks with it as the task': ({ value }) =>
    team({ mode: 'lead', members: [ok], model: toolCall('ask_ok', { task: value }) }),
  'a lead with a member that emits it': (one) =>
    team({ mode: 'lead', members: [emitting(one)], model: toolCall('ask_emitting', { task: 'go' }) }),
  'a sequence with a member that emits it': (one) => team({ members: [emitting(one), ok] }),
  'a parallel team with a member that emits it': (one) => team({ mode: 'parallel', members: [emitting(one), ok] }),
  'a router that calls with it': ({ value }) =>
    team({ mode: 'route', members: [ok], model: toolCall('ask_ok', value) }),
  'a workflow that returns it': ({ value }) => workflow({ run: () => value }),
  'a workflow whose step returns it': ({ value }) => workflow({ run: ({ step }) => step('one', () => value as never) }),
  'a workflow whose step throws it': ({ value }) => workflow({ run: ({ step }) => step('one', throwing(value)) }),
  'a workflow that asks about it': ({ value }) => workflow({ run: ({ approve }) => approve('one', value) }),
  'a workflow that leaves it in the state': ({ value }) =>
    workflow({
      async run({ state, step }) {
        state.odd = value as never
        await step('one', () => 'done')
      },
    }),
  'a run that asks another with it': ({ value }) =>
    workflow({
      run: async (context) => {
        const input = { parts: [{ type: 'text', text: value }], text: value } as never
        return (await (await (context as unknown as RunContext).child(ok, { entityId: 'ok', input })).result()).status
      },
    }),
  'an agent of the AI SDK whose tool gives it': ({ value }) =>
    hostAgent(
      new ToolLoopAgent({
        model: toolCall('odd', {}),
        tools: { odd: oddTool(async () => value) },
      }) as never,
    ),
  'a remote agent that sends it': (_one, { remote }) => remoteAgent({ url: remote, agentId: 'odd' }),
  'a tool of an MCP server that sends it': (_one, peers) =>
    withDefaults(agent({ model: toolCall('there_odd', {}), tools: { there: mcp({ url: peers.mcp }) } }), {
      mcp: createMcpServers({}, '.', 8 * 1024 * 1024),
    }),
  'a caller that gives it as the text': () => ok,
  'a caller that gives it as data': () => ok,
  'a caller that gives it as metadata': () => ok,
  'a caller that gives it as state': () => workflow({ run: ({ text }) => text }),
}

const cases = fc.record({
  kind: fc.constantFrom(...Object.keys(makes)),
  value: hostileValue,
  emissions: fc.array(hostileEmission, { minLength: 1, maxLength: 3 }),
})

function requestOf({ kind, value }: Case) {
  const parts = kind.endsWith('as the text')
    ? [{ type: 'text', text: value }]
    : kind.endsWith('as data')
      ? [{ type: 'data', data: value }]
      : [{ type: 'text', text: 'go' }]
  const metadata = kind.endsWith('as metadata') ? { metadata: { value } } : {}
  const state = kind.endsWith('as state') ? { state: { value } } : {}
  return request('main', 'go', { parts, ...metadata, ...state } as never)
}

async function openPeers(current: () => Case) {
  const remote = await openScriptedServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const { value, emissions } = current()
    for (const content of [value, ...emissions]) response.write(`data: ${toWire({ type: 'content', content })}\n\n`)
    response.end(`data: ${toWire(value)}\n\ndata: {"type":"done"}\n\n`)
  })
  const server = await openScriptedServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method, params } = JSON.parse(request.body)
    if (id === undefined) return void response.writeHead(202).end()
    const tools = [{ name: 'odd', inputSchema: { type: 'object' } }]
    const results: Record<string, string> = {
      initialize: toWire({
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'odd', version: '1' },
      }),
      'tools/list': toWire({ tools }),
      'tools/call': toWire({ content: [{ type: 'text', text: current().value }], structuredContent: current().value }),
    }
    const result = results[method] ?? '{}'
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`)
  })
  return {
    peers: { remote: remote.url, mcp: server.url },
    close: () => Promise.all([remote.close(), server.close()]),
  }
}

export interface HostileRuns {
  store: SessionStore
  runs: number
  seed?: number | undefined
  /** That another agent may take to answer. */
  mostMs: number
}

/**
 * Gives every kind of runnable what nobody expects, case after case. After each, another agent must answer in time, the store
 * must take work, and what the run left must be readable. Throws with the case that failed.
 */
export async function playHostileRuns({ store, runs, seed, mostMs }: HostileRuns): Promise<{ slowestMs: number }> {
  let current: Case | undefined
  const { peers, close } = await openPeers(() => current as Case)
  const services = await openServices({ ok, main: ok }, store, 5_000)
  let slowestMs = 0
  try {
    const holds = fc.asyncProperty(cases, async ({ kind, value, emissions }) => {
      const one: Case = { kind, value: value(), emissions: emissions.map((make) => make()) }
      current = one
      const main = makes[one.kind]?.(one, peers) as Runnable
      services.registry.replace(new Map(Object.entries({ ok, main })))
      let sessionId: string | undefined
      try {
        const handle = await services.runs.start(requestOf(one))
        sessionId = handle.sessionId
        await handle.result()
      } catch {
        // Refused, which is fine; what it must not do is looked at here:
      }
      const begunMs = performance.now()
      const answering = services.runs.start(request('ok', 'still here')).then((handle) => handle.result())
      const answer = await inTime(answering, mostMs)
      slowestMs = Math.max(slowestMs, performance.now() - begunMs)
      if (answer.status !== 'completed') throw new Error(`another agent was ${answer.status}`)
      await inTime(store.check(), mostMs)
      if (sessionId !== undefined) await readAll(services, sessionId)
    })
    await fc.assert(holds, {
      numRuns: runs,
      ...(seed === undefined ? {} : { seed }),
      endOnFailure: true,
      // A value that can't be shown must not hide which case it was.
      reporter: (details) => {
        if (details.failed) throw new Error(`${current?.kind} (seed ${details.seed}): ${String(details.errorInstance)}`)
      },
    })
  } finally {
    await services.runs.shutdown(0)
    await store.close()
    await close()
  }
  return { slowestMs }
}

async function readAll({ store, runs }: Awaited<ReturnType<typeof openServices>>, sessionId: string): Promise<void> {
  const { runs: records } = await store.readHistory(sessionId, 100)
  for (const { run_id: runId } of records) {
    JSON.stringify(await runs.get(runId))
    for await (const batch of await runs.events(runId, 0)) JSON.stringify(batch)
  }
  await store.findSession(sessionId)
}

async function inTime<T>(work: Promise<T>, mostMs: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`it took longer than ${mostMs} ms`)), mostMs)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
