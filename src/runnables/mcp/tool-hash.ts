import { createHash } from 'node:crypto'
import type { McpToolDefinition } from './connection.ts'

const known = new WeakMap<readonly McpToolDefinition[], ReadonlyMap<string, string>>()

/** By the server's own names: a hash of each tool's description and input schema. */
export function hashTools(definitions: readonly McpToolDefinition[]): ReadonlyMap<string, string> {
  let hashes = known.get(definitions)
  if (hashes === undefined) {
    hashes = new Map(definitions.map((definition) => [definition.name, hashOf(definition)]))
    known.set(definitions, hashes)
  }
  return hashes
}

function hashOf({ name, description, inputSchema }: McpToolDefinition): string {
  const text = JSON.stringify(sorted([name, description ?? null, inputSchema]))
  return createHash('sha256').update(text).digest('base64url')
}

/** With sorted keys, since a server may change their order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return entries.map(([key, item]) => [key, sorted(item)])
}
