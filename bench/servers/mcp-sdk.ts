import type { ServerResponse } from 'node:http'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { listen, readText } from './listen.ts'

/** The MCP SDK's own server with a tool that does nothing, on node:http without a framework between. */

const handler = createMcpHandler(
  () => {
    const server = new McpServer({ name: 'bench', version: '1.0.0' })
    server.registerTool('nothing', {}, () => ({ content: [] }))
    return server
  },
  { responseMode: 'sse' },
)

listen((request, response) =>
  readText(request, (body) => {
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
    void answer(new Request(`http://127.0.0.1${request.url}`, { method: 'POST', headers, body }), response)
  }),
)

async function answer(request: Request, response: ServerResponse): Promise<void> {
  const { status, headers, body } = await handler.fetch(request)
  response.writeHead(status, Object.fromEntries(headers))
  for await (const chunk of body ?? []) response.write(chunk)
  response.end()
}
