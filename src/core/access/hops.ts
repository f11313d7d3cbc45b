import type { JsonObject } from '../json.ts'

/** Says of an A2A request how many servers have passed it on. */
export const hopsHeader = 'x-agentserve-hops'

/** Under which a run keeps it in its metadata. */
export const hopsKey = 'remote_hops'

/** Calls from server to server in a row; one more, and somebody is calling himself. */
export const maxHops = 8

/** How many servers have passed this run on; 0 for one that came from a client. */
export function hopsOf(metadata: Readonly<JsonObject>): number {
  const hops = metadata[hopsKey]
  return typeof hops === 'number' ? hops : 0
}

/** A header's value as metadata of a run; undefined when it says nothing. */
export function toHopsMetadata(header: unknown): JsonObject | undefined {
  return typeof header === 'string' && /^[1-9]\d{0,2}$/.test(header) ? { [hopsKey]: Number(header) } : undefined
}
