import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { mcp } from '../../../src/runnables/mcp/mcp.ts'
import { boundMessages } from '../../../src/runnables/mcp/message-size.ts'
import type { McpServer } from '../../../src/runnables/mcp/settings.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { eventsOf, serveAgents } from '../../runnables/agent-server.ts'

const fixture = join(import.meta.dirname, '../../fixtures/endless-mcp-server.ts')

/** The server, and how it ends. */
async function serve(kind: string): Promise<{ server: McpServer; [Symbol.asyncDispose]: () => Promise<void> }> {
  if (kind === 'stdio') {
    return { server: { command: process.execPath, args: [fixture] }, [Symbol.asyncDispose]: async () => {} }
  }
  const child = spawn(process.execPath, [fixture, kind], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout, 'data')
  const ended = once(child, 'exit')
  return {
    server: { url: `http://127.0.0.1:${Number(port)}/` },
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await ended
    },
  }
}

describe('a message of an MCP server', () => {
  it.each(['stdio', '--json', '--events'])(
    'that never ends fails its call with the name of the limit (%s), and the run goes on',
    async (kind) => {
      await using endless = await serve(kind)
      const model = scriptedModel({ tool_calls: [{ name: 'there_flood', input: {} }] }, 'enough')
      const main = agent({ model, tools: { there: mcp(endless.server) } })
      await using server = await serveAgents({ main }, { limits: { mcpMessage: '300KB' } })
      const { runId, status } = await server.ask('main', 'go')
      const [result] = eventsOf(await server.events(runId), 'tool_result')
      expect(result?.error?.message).toContain('it sent a message of more than 300 KB, the limit `mcpMessage`')
      expect(result?.error?.message).toContain('`server.limits.mcpMessage`')
      expect(status).toBe(200)
    },
  )

  it('of a stream of events is as long as its event, not as the stream, wherever its chunks are cut', async () => {
    const event = `event: message\r\ndata: ${'x'.repeat(50)}\r\n\r\n`
    const stream = event.repeat(20)
    for (const size of [1, 7, 64, 5000]) {
      const pass = (bytes: number, text: string) => {
        const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
        const body = ReadableStream.from(chunks.map((chunk) => Buffer.from(chunk))) as ReadableStream<Uint8Array>
        const headers = { 'content-type': 'text/event-stream' }
        return boundMessages(new Response(body, { headers }), bytes, () => {}).text()
      }
      expect(await pass(event.length, stream)).toBe(stream)
      await expect(pass(event.length - 1, stream)).rejects.toThrow('`mcpMessage`')
      expect(await pass(20, 'data: 1\n\ndata: 2\n\n'.repeat(50))).toHaveLength(900)
    }
  })
})
