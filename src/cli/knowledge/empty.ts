import type { Client } from '../../client/client.ts'
import { hint } from '../terminal/called-as.ts'
import { say } from '../terminal/output.ts'

/** Says how to fill the knowledge base when the server tells that nothing is in it. */
export async function sayIfEmpty(client: Client, signal: AbortSignal, collection?: string): Promise<void> {
  const found = await client.knowledge.documents.list({ collection }, { limit: 1, signal }).catch(() => undefined)
  if (found?.count === 0) say(whatIsEmpty())
}

/** A server answers while it still ingests the sources of its config, and does not say so. */
export function whatIsEmpty(): string {
  return `The knowledge base is empty. Add documents with \`${hint('ingest <paths>')}\`. A server that has just started may still be ingesting its sources: try again then.`
}
