import type { Client } from '../../../client/client.ts'

/**
 * Waits until somebody else answers a paused run, or ends it. Resolves with undefined when the signal aborts, or when that can't be
 * seen here: then the server tells it when the answer is given.
 */
export async function answeredElsewhere(
  client: Client,
  runId: string,
  after: number,
  signal: AbortSignal,
): Promise<'answered' | 'ended' | undefined> {
  try {
    for await (const event of client.live({ follow: { [runId]: after }, signal })) {
      if (event.type === 'run_event' && event.event.run_id === runId)
        return event.event.type === 'run_resumed' ? 'answered' : 'ended'
    }
  } catch {
    // The key may read too many streams already, or the server can't be reached.
  }
  return undefined
}
