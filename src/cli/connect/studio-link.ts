import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'

/**
 * The address of a session, or of one of its runs, in the studio of the running server at `url`. Undefined without a running
 * server, and where it serves no studio or is another kind of server.
 */
export async function studioLink(
  client: Client,
  url: string | undefined,
  { sessionId, runId }: { sessionId: string; runId?: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (url === undefined) return undefined
  const studio = await studioPath(client, signal)
  if (studio === undefined) return undefined
  const parts = ['s', sessionId, ...(runId === undefined ? [] : ['r', runId])]
  return url.replace(/\/+$/, '') + studio + parts.map((part) => `/${encodeURIComponent(part)}`).join('')
}

/** A server of another kind may have no list of its paths; what was asked for is shown all the same. */
async function studioPath(client: Client, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { studio } = await client.home({ signal })
    return typeof studio === 'string' && /^\/[^\s?#]*$/.test(studio) ? studio.replace(/\/$/, '') : undefined
  } catch (error) {
    signal.throwIfAborted()
    if (isAppError(error)) return undefined
    throw error
  }
}
