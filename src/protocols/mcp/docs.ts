import { refusals as common } from '../../wire/document/refusals.ts'
import { type DocResponse, jsonAnswer, type RouteDoc } from '../../wire/document/route-doc.ts'
import { McpFailure, McpMessage, McpRequest } from '../../wire/protocols/mcp.ts'

const refusals: Readonly<Record<number, string>> = {
  ...common,
  400: 'The message is not valid, or of another version of the protocol.',
  403: 'The origin is not allowed, or the server has no keys and can be reached from other machines.',
  404: 'There is no such method.',
  500: 'Internal error.',
  503: 'The server is stopping or at capacity.',
}

export function mcpDocs(path: string): RouteDoc[] {
  const refused = (status: number): DocResponse => jsonAnswer(refusals[status] ?? '', McpFailure)
  return [
    {
      method: 'POST',
      path,
      operationId: 'mcp',
      tag: 'MCP',
      scope: 'any',
      summary: 'Call the MCP server',
      description:
        'Model Context Protocol over Streamable HTTP, versions 2025-03-26 to 2026-07-28, without sessions. A tool needs the scope ' +
        'of what it does: `run` to ask agents, `knowledge:read` to search documents.',
      headers: {
        'MCP-Protocol-Version': 'The version of the protocol.',
        'Mcp-Method': 'The method of the message, from 2026-07-28 on.',
        'Mcp-Name': 'The tool or resource of the message, from 2026-07-28 on.',
      },
      body: { required: true, content: { 'application/json': McpRequest } },
      responses: {
        200: {
          description: 'The result, after progress when the host asked for it.',
          content: { 'text/event-stream': McpMessage, 'application/json': McpMessage },
        },
        202: { description: 'A notification was received.' },
        ...Object.fromEntries(Object.keys(refusals).map((status) => [status, refused(Number(status))])),
      },
    },
  ]
}
