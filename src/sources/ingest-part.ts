import { AppError, isAppError } from '../core/error.ts'
import type { IngestOutcome } from '../core/knowledge/knowledge.ts'

interface Item {
  source: string
  content?: unknown
}

/**
 * Sends the items in one request, and in halves when the server has no time for all of them. Throws `timeout` when it has
 * none for a single one, so that at most as many requests are late as a part can be halved.
 */
export async function sendPart<T extends Item>(
  send: (items: readonly T[]) => Promise<readonly IngestOutcome[]>,
  items: readonly T[],
): Promise<readonly IngestOutcome[]> {
  const [first] = items
  try {
    return await send(items)
  } catch (error) {
    if (first === undefined || !isLate(error)) throw error
    if (items.length === 1) throw tooSlow(first.source, error)
    const middle = Math.ceil(items.length / 2)
    const before = await sendPart(send, items.slice(0, middle))
    return [...before, ...(await sendPart(send, items.slice(middle)))]
  }
}

/** Sends one file. Throws `timeout` with what helps. */
export async function sendAlone<T>(source: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (error) {
    throw isLate(error) ? tooSlow(source, error) : error
  }
}

function isLate(error: unknown): boolean {
  return isAppError(error) && error.code === 'timeout'
}

function tooSlow(source: string, cause: unknown): AppError {
  return new AppError(
    'timeout',
    `${source} can't be ingested in the time that a request has. Raise server.requestTimeout of the server, and ingest again: what is stored already is not sent again.`,
    { cause },
  )
}
