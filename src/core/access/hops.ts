import type { JsonObject } from '../json.ts'

/** Header of A2A requests: how many servers have forwarded it. */
export const hopsHeader = 'x-agentserve-hops'

/** Its key in a run's metadata. */
const hopsKey = 'remote_hops'

/** Maximum calls from server to server; more means a loop. */
export const maxHops = 8

/** How many servers have forwarded this run; 0 when it came from a client. */
export function hopsOf(metadata: Readonly<JsonObject>): number {
  const hops = metadata[hopsKey]
  return typeof hops === 'number' ? hops : 0
}

/** A header's value as run metadata; undefined without a valid value. */
export function toHopsMetadata(header: unknown): JsonObject | undefined {
  return typeof header === 'string' && /^[1-9]\d{0,2}$/.test(header) ? { [hopsKey]: Number(header) } : undefined
}
