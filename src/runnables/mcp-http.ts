import type { MCPClientConfig } from '@ai-sdk/mcp'
import type { McpEndpoint } from './mcp-settings.ts'

const connectTimeoutMs = 10_000

export interface HttpLine {
  transport: MCPClientConfig['transport']
  /** Cuts what is still open. */
  close(): Promise<void>
}

/** The way to an MCP server over HTTP, through undici. Redirects are refused, as they would take the headers along. */
export async function openHttp({ url, headers, type }: McpEndpoint): Promise<HttpLine> {
  const { Agent, fetch } = await import('undici')
  // Streams stay open for as long as the server has nothing to say; calls have their own time limit.
  const dispatcher = new Agent({ connect: { timeout: connectTimeoutMs }, headersTimeout: 0, bodyTimeout: 0 })
  const send = (input: Parameters<typeof fetch>[0], init?: Parameters<typeof fetch>[1]) =>
    fetch(input, { ...init, dispatcher })
  return {
    transport: {
      type: type === 'sse' ? 'sse' : 'http',
      url,
      headers: { ...headers },
      fetch: send as unknown as typeof globalThis.fetch,
    },
    close: () => dispatcher.destroy(),
  }
}
