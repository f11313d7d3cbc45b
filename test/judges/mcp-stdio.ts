import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'

/** The published clients of MCP, and the eras of the protocol that they speak. */
export const mcpClients = ['sdk 1', 'client 2', 'client 2 in the era 2026-07-28'] as const
export type McpClientName = (typeof mcpClients)[number]

export interface Asked {
  message: string
  requestedSchema: unknown
}

export interface Elicited {
  action: 'accept' | 'decline' | 'cancel'
  content?: Record<string, unknown>
}

export interface ToolAnswer {
  content: { type: string; text?: string; uri?: string }[]
  structuredContent?: Record<string, unknown>
  isError?: boolean
}

export interface McpHost {
  tools(): Promise<string[]>
  call(
    name: string,
    args: Record<string, unknown>,
    options?: { onprogress?: (progress: { progress: number; message?: string }) => void; signal?: AbortSignal },
  ): Promise<ToolAnswer>
  resources(): Promise<string[]>
  read(uri: string): Promise<string | undefined>
  close(): Promise<void>
}

export interface Program {
  command: string
  args: string[]
  cwd: string
  env: Record<string, string>
}

interface HostOptions {
  /** Answers questions to a person; without it the host can't ask. */
  elicit?: (asked: Asked) => Elicited
  onToolsChanged?: () => void
}

/** What both packages have, as far as it is used here. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>
  callTool(...given: unknown[]): Promise<unknown>
  listResources(): Promise<{ resources: { uri: string }[] }>
  readResource(given: { uri: string }): Promise<{ contents: { text?: string }[] }>
  close(): Promise<void>
}

/** Starts the program as a host does. */
export async function startHost(name: McpClientName, program: Program, options: HostOptions = {}): Promise<McpHost> {
  const client = await (name === 'sdk 1' ? openSdk1(program, options) : openClient2(name, program, options))
  return {
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    async call(tool, args, given) {
      const call = { name: tool, arguments: args }
      const answer = name === 'sdk 1' ? client.callTool(call, undefined, given) : client.callTool(call, given)
      return (await answer) as ToolAnswer
    },
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    read: async (uri) => (await client.readResource({ uri })).contents[0]?.text,
    close: () => client.close(),
  }
}

async function openSdk1(program: Program, { elicit, onToolsChanged }: HostOptions): Promise<AnyClient> {
  const capabilities = elicit === undefined ? {} : { elicitation: {} }
  const client = new Client1({ name: 'test', version: '1' }, { capabilities })
  if (elicit !== undefined)
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ ...elicit(params as Asked) }) as never)
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => onToolsChanged?.())
  await client.connect(new Stdio1({ ...program, stderr: 'ignore' }))
  return client as unknown as AnyClient
}

async function openClient2(name: McpClientName, program: Program, options: HostOptions): Promise<AnyClient> {
  const { elicit, onToolsChanged } = options
  // No literals: the types of the repository need no judges.
  const [main, stdio] = ['@modelcontextprotocol/client', '@modelcontextprotocol/client/stdio'] as string[]
  const [{ Client }, { StdioClientTransport }] = await Promise.all([
    import(main as string),
    import(stdio as string),
  ]).catch((cause: unknown) => {
    throw new Error('The judges are not installed: npm run judges', { cause })
  })
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: elicit === undefined ? {} : { elicitation: { form: {} } },
      ...(name !== 'client 2' && { versionNegotiation: { mode: 'auto' } }),
    },
  )
  if (elicit !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }: { params: Asked }) => elicit(params))
  client.setNotificationHandler('notifications/tools/list_changed', () => onToolsChanged?.())
  await client.connect(new StdioClientTransport({ ...program, stderr: 'ignore' }))
  return client as AnyClient
}
