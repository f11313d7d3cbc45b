import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { silentLogger } from '../../../src/core/logger.ts'
import { agent, createServer, type EmbeddedConfig, tool, workflow } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into messages field by field
export type Any = any

const pay = tool({
  inputSchema: z.object({ euros: z.number() }),
  needsApproval: true,
  execute: ({ euros }) => ({ paid: euros }),
})

/** Agents of every kind of answer. `held` works until `release` is called or it is cancelled. */
export function agents() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const cancelled: string[] = []
  return {
    release,
    cancelled,
    entities: {
      echo: agent({ description: 'Says it again.', run: async ({ text }) => `Said ${text}` }),
      held: agent({
        async *run({ signal, runId }) {
          yield 'so far '
          const left = Promise.withResolvers<void>()
          signal.addEventListener('abort', () => left.resolve(), { once: true })
          await Promise.race([released, left.promise])
          if (signal.aborted) cancelled.push(runId)
          yield 'and done'
        },
      }),
      failing: agent({
        // biome-ignore lint/correctness/useYield: it fails before
        async *run() {
          throw new Error('no luck')
        },
      }),
      cashier: agent({
        tools: { pay },
        model: scriptedModel(({ prompt, text }) => {
          const last = prompt.at(-1)
          if (last?.role === 'tool') return `Settled: ${JSON.stringify(last.content)}`
          return { tool_calls: text.split(' ').map((_, index) => ({ name: 'pay', input: { euros: index + 1 } })) }
        }),
      }),
      asks: agent({
        async *run({ text, resumed }) {
          if (resumed !== undefined) yield `It is ${JSON.stringify(resumed.input)}`
          else {
            const schema =
              text === 'deep' ? { type: 'object', properties: { a: { type: 'array' } } } : { type: 'integer' }
            yield { type: 'input_required', prompt: 'How many?', schema }
          }
        },
      }),
      data: agent({
        async *run() {
          yield { type: 'data', data: { celsius: 9 } }
        },
      }),
      steps: workflow({
        run: async ({ step }) => `${await step('look up', async () => 'found')}`,
      }),
      long: agent({ run: async () => 'x'.repeat(300_000) }),
    },
  }
}

export interface OpenMcp {
  entities?: Record<string, Any>
  server?: Partial<EmbeddedConfig>
}

export async function openMcp({ server: settings = {}, entities }: OpenMcp = {}) {
  const made = agents()
  const server = createServer({ logger: silentLogger, address: '127.0.0.1:0', ...settings })
  for (const [id, entity] of Object.entries(entities ?? made.entities)) server.registerAgent(id, entity as Any)
  const { url } = await server.listen()
  onTestFinished(async () => {
    made.release()
    await server.shutdown({ deadline: 1000 })
  })
  return { ...made, server, url, mcp: `${url}/mcp`, ...callsOf(`${url}/mcp`) }
}

const version = '2026-07-28'

/** What a host of 2026-07-28 sends, by hand: no handshake, everything in each request. */
export function callsOf(mcp: string) {
  function send(
    method: string,
    params: Record<string, unknown> = {},
    {
      headers = {},
      capabilities = {},
      signal,
    }: { headers?: Record<string, string>; capabilities?: object; signal?: AbortSignal } = {},
  ): Promise<Response> {
    const { _meta, ...rest } = params as { _meta?: object; name?: string; uri?: string }
    const name = rest.name ?? rest.uri
    return fetch(mcp, {
      method: 'POST',
      ...(signal && { signal }),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': version,
        'mcp-method': method,
        ...(name !== undefined && { 'mcp-name': name }),
        ...headers,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method,
        params: {
          ...rest,
          _meta: {
            ..._meta,
            'io.modelcontextprotocol/protocolVersion': version,
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': capabilities,
          },
        },
      }),
    })
  }
  async function messages(...given: Parameters<typeof send>): Promise<Any[]> {
    const answer = await send(...given)
    const text = await answer.text()
    if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) return [JSON.parse(text)]
    return text
      .split('\n\n')
      .flatMap((frame) => frame.split('\n').filter((line) => line.startsWith('data: {')))
      .map((line) => JSON.parse(line.slice(6)))
  }
  return {
    send,
    messages,
    async result(...given: Parameters<typeof send>): Promise<Any> {
      const last = (await messages(...given)).at(-1)
      return last.result ?? last
    },
    async call(
      name: string,
      args: object = {},
      more: Parameters<typeof send>[2] & { params?: object } = {},
    ): Promise<Any> {
      const last = (await messages('tools/call', { name, arguments: args, ...more.params }, more)).at(-1)
      return last.result ?? last
    },
    /** A host of 2025, by the SDK of its time. */
    async connect(headers: Record<string, string> = {}, capabilities: Any = {}) {
      const client = new Client({ name: 'host', version: '1' }, { capabilities })
      await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { requestInit: { headers } }) as Any)
      onTestFinished(() => client.close())
      return client
    },
  }
}

/** The structured content of a result. */
export function shown(result: Any): Any {
  return result.structuredContent
}
