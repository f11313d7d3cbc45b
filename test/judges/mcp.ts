import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

/*
 * The published clients of MCP, as one shape: SDK 1, and `@modelcontextprotocol/client` in both eras of the protocol. The types of
 * the latter are only in test/judges.
 */

export const mcpClients = ['SDK 1', 'client 2', 'client 2 of 2026-07-28'] as const
export type McpClient = (typeof mcpClients)[number]

export type McpWay =
  | { url: string; headers?: Record<string, string>; fetch?: typeof fetch }
  | { command: string; args: string[]; cwd: string; env: Record<string, string> }

type Json = Record<string, unknown>
export interface McpTool {
  name: string
  description?: string
  inputSchema: Json
  outputSchema?: Json
  annotations?: { readOnlyHint?: boolean }
}
export interface McpContent {
  type: string
  text?: string
  uri?: string
}
export interface McpResult {
  content: McpContent[]
  structuredContent?: Json
  isError?: boolean
}
export interface McpQuestion {
  message: string
  requestedSchema: { properties: Json; required?: string[] }
}
export interface McpReply {
  action: 'accept' | 'decline' | 'cancel'
  content?: Json
}
export interface McpCallOptions {
  signal?: AbortSignal
  onprogress?: (progress: { progress: number; message?: string }) => void
}

interface Common {
  listTools(): Promise<{ tools: McpTool[] }>
  listResources(): Promise<{ resources: { uri: string; name: string; mimeType?: string }[] }>
  readResource(params: { uri: string }): Promise<{ contents: { uri: string; text?: string; mimeType?: string }[] }>
  close(): Promise<void>
}

export interface McpJudge extends Common {
  /** The version of the protocol that both speak; undefined where the client does not tell. */
  version: string | undefined
  call(name: string, args: Json, options?: McpCallOptions): Promise<McpResult>
}

export interface McpJudgeOptions {
  /** Answers questions; without it the client takes none. */
  elicit?: (question: McpQuestion) => McpReply
  /** What a server on stdio writes besides JSON-RPC. */
  onStderr?: (text: string) => void
}

const info = { name: 'judge', version: '1.0.0' }

export async function connectMcp(client: McpClient, way: McpWay, options: McpJudgeOptions = {}): Promise<McpJudge> {
  return client === 'SDK 1' ? connectOne(way, options) : connectTwo(client, way, options)
}

const overHttp = ({ headers = {}, fetch }: { headers?: Record<string, string>; fetch?: typeof globalThis.fetch }) => ({
  requestInit: { headers },
  ...(fetch !== undefined && { fetch }),
})

/** Throws when the other side has sent what is not JSON-RPC. */
function watch(transport: { onerror?: ((error: Error) => void) | undefined }): () => void {
  const errors: Error[] = []
  const told = transport.onerror
  transport.onerror = (error) => {
    errors.push(error)
    told?.(error)
  }
  return () => {
    const unread = errors.find(({ message }) => /JSON|parse/i.test(message))
    if (unread !== undefined) throw unread
  }
}

async function connectOne(way: McpWay, { elicit, onStderr }: McpJudgeOptions): Promise<McpJudge> {
  const client = new Client(info, { capabilities: elicit === undefined ? {} : { elicitation: {} } })
  if (elicit !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicit(params as McpQuestion) as never)
  }
  const transport =
    'url' in way
      ? new StreamableHTTPClientTransport(new URL(way.url), overHttp(way))
      : new StdioClientTransport({ ...way, stderr: 'pipe' })
  if ('stderr' in transport) transport.stderr?.on('data', (bytes: Buffer) => onStderr?.(bytes.toString()))
  await client.connect(transport as Parameters<Client['connect']>[0])
  const check = watch(transport)
  return {
    version: 'protocolVersion' in transport ? transport.protocolVersion : undefined,
    listTools: async () => (await client.listTools()) as { tools: McpTool[] },
    listResources: async () => (await client.listResources()) as Awaited<ReturnType<Common['listResources']>>,
    readResource: async (params) => (await client.readResource(params)) as Awaited<ReturnType<Common['readResource']>>,
    async call(name, args, options = {}) {
      const result = await client.callTool({ name, arguments: args }, undefined, options as never)
      check()
      return result as unknown as McpResult
    },
    async close() {
      await client.close()
      check()
    },
  }
}

interface Client2 extends Common {
  connect(transport: object): Promise<void>
  setRequestHandler(method: string, handler: (request: { params: McpQuestion }) => McpReply): void
  getNegotiatedProtocolVersion(): string | undefined
  callTool(params: { name: string; arguments: Json }, options: McpCallOptions): Promise<McpResult>
}
interface Transport2 {
  stderr?: { on(event: 'data', listener: (bytes: Buffer) => void): void } | null
  onerror?: (error: Error) => void
}
interface Package2 {
  Client: new (info: object, options: object) => Client2
  StreamableHTTPClientTransport: new (url: URL, options: object) => Transport2
}
interface Stdio2 {
  StdioClientTransport: new (options: object) => Transport2
}

function load<T>(name: string): Promise<T> {
  return import(name).catch((cause: unknown) => {
    throw new Error('The judges are not installed: npm run judges', { cause })
  })
}

async function connectTwo(which: McpClient, way: McpWay, { elicit, onStderr }: McpJudgeOptions): Promise<McpJudge> {
  const { Client, StreamableHTTPClientTransport } = await load<Package2>('@modelcontextprotocol/client')
  const { StdioClientTransport } = await load<Stdio2>('@modelcontextprotocol/client/stdio')
  const client = new Client(info, {
    capabilities: elicit === undefined ? {} : { elicitation: { form: {} } },
    ...(which === 'client 2 of 2026-07-28' && { versionNegotiation: { mode: 'auto' } }),
  })
  if (elicit !== undefined) client.setRequestHandler('elicitation/create', ({ params }) => elicit(params))
  const transport =
    'url' in way
      ? new StreamableHTTPClientTransport(new URL(way.url), overHttp(way))
      : new StdioClientTransport({ ...way, stderr: 'pipe' })
  transport.stderr?.on('data', (bytes) => onStderr?.(bytes.toString()))
  await client.connect(transport)
  const check = watch(transport)
  return {
    version: client.getNegotiatedProtocolVersion(),
    listTools: () => client.listTools(),
    listResources: () => client.listResources(),
    readResource: (params) => client.readResource(params),
    async call(name, args, options = {}) {
      const result = await client.callTool({ name, arguments: args }, options)
      check()
      return result
    },
    async close() {
      await client.close()
      check()
    },
  }
}
