import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createProject, root, serve } from '../program.ts'

export interface EndlessRun {
  agent: string
  /** What the run, or the call of its tool, ended with. */
  said: string
  /** The most that the program's process had until then; undefined where the system does not tell. */
  peakMegabytes: number | undefined
}

/** What each of them must end with. */
export const endlessEnds: Readonly<Record<string, string>> = {
  own: '`run.output`',
  hollow: '`run.output`',
  thinking: '`run.output`',
  busy: '`run.events`',
  held: '`run.output`',
  there: '`run.output`',
  asking: '`toolResult.record`',
  flooded: '`mcpMessage`',
  looping: '`run.steps`',
}

const config = (limits: string, remote: string) => `
import { agent, defineConfig, mcp, remoteAgent, tool } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
import { z } from 'zod'

const text = 'more and more of it. '.repeat(50)
const endless = (emission) => async function* () { for (;;) yield emission }
const call = (name, input) => scriptedModel(({ number }) => number === 1 ? { tool_calls: [{ name, input }] } : 'told')
const there = () => remoteAgent({ url: '${remote}', agentId: 'endless' })
const flood = { command: process.execPath, args: [${JSON.stringify(join(root, 'test/fixtures/endless-mcp-server.ts'))}] }
const again = tool({ inputSchema: z.object({}), execute: async () => 'again' })

export default defineConfig({
  server: { requestTimeout: '10m', limits: ${limits} },
  agents: {
    own: agent({ run: endless(text) }),
    hollow: agent({ run: endless('') }),
    thinking: agent({ run: endless({ type: 'reasoning_delta', text }) }),
    busy: agent({ run: endless({ type: 'step_start', step_id: 's', name: 'n' }) }),
    held: agent({ run: endless(text), guardrails: { output: () => {} } }),
    there: there(),
    asking: agent({ model: call('there', { message: 'go' }), tools: { there: there() } }),
    flooded: agent({ model: call('mcp_flood', {}), tools: { mcp: mcp(flood) } }),
    looping: agent({ model: scriptedModel(() => ({ tool_calls: [{ name: 'again', input: {} }] })), tools: { again } }),
    echo: agent({ run: ({ text }) => text }),
  },
})
`

/** Plays agents, a peer and a tool that never stop, one after the other, against the program with these limits. */
export async function playEndless(limits = '{}', agents = Object.keys(endlessEnds)): Promise<EndlessRun[]> {
  await using peer = await openEndlessPeer()
  const project = await createProject({ 'agent.config.js': config(limits, peer.url) })
  const server = await serve(project, 'start')
  try {
    const runs: EndlessRun[] = []
    for (const agent of agents) {
      const asked = ask(server.url, agent)
      const echo = await ask(server.url, 'echo')
      if (echo.http !== 200) throw new Error(`beside "${agent}", echo answered ${echo.http}`)
      const said = await endOf(server.url, await asked)
      runs.push({ agent, said, peakMegabytes: peakOf(server.child.pid) })
    }
    return runs
  } finally {
    await server.kill()
    await project.remove()
  }
}

async function ask(url: string, agent: string) {
  const response = await fetch(`${url}/api/v1/agents/${agent}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'go' }),
  })
  const json = (await response.json()) as { run_id?: string; error?: { code: string; message: string; run_id: string } }
  return { ...json, http: response.status }
}

async function endOf(url: string, answer: Awaited<ReturnType<typeof ask>>): Promise<string> {
  if (answer.error !== undefined) return `${answer.http} ${answer.error.code}: ${answer.error.message}`
  const response = await fetch(`${url}/api/v1/runs/${answer.run_id}/events`)
  const results = (await response.text()).match(/^data: .*"tool_result".*$/gm) ?? []
  return results.join('\n')
}

/** An A2A server whose answer never ends, as fast as it is read. */
async function openEndlessPeer() {
  const piece = `data: ${JSON.stringify({ type: 'content', content: 'more and more of it. '.repeat(1000) })}\n\n`
  const flood = (response: ServerResponse) => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once('drain', () => flood(response))
  }
  const server = createServer((_request, response) => {
    response.on('error', () => {})
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    flood(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function peakOf(pid: number | undefined): number | undefined {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024)
  } catch {
    return undefined
  }
}
