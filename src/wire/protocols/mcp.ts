import { z } from 'zod'
import { jsonObject } from '../../schema/request-field.ts'
import { component } from '../document/component.ts'

/* The messages of MCP as the OpenAPI document shows them. The SDK checks them, by the version of the protocol. */

const jsonrpc = z.literal('2.0')
const id = z.union([z.string(), z.number()])

export const McpRequest = component(
  'McpRequest',
  z.object({
    jsonrpc,
    id: id.exactOptional().describe('Absent in a notification.'),
    method: z.string().describe('Such as `tools/call`.'),
    params: jsonObject().exactOptional(),
  }),
)

export const McpFailure = component(
  'McpFailure',
  z.object({
    jsonrpc,
    id: id.nullable().exactOptional().describe('Absent or null when no request could be read.'),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
  }),
)

export const McpMessage = component(
  'McpMessage',
  z.union([
    z.object({ jsonrpc, id, result: jsonObject() }),
    McpFailure,
    z.object({ jsonrpc, method: z.string(), params: jsonObject().exactOptional() }).describe('A notification.'),
  ]),
)
