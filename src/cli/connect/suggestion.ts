import type { Client } from '../../client/client.ts'
import { AppError, type ErrorCode, isAppError } from '../../core/error.ts'
import { nearest } from '../../core/text/nearest.ts'

const patienceMs = 2_000
const unknown = /^(?:There is no (?:agent|session|run|document) '([\s\S]*)'\.|agent not found: ([\s\S]*))$/

/** The error with the id that was meant, if one of those that exist is a slip away. */
export async function withSuggestion(error: unknown, client: Client): Promise<unknown> {
  if (!isAppError(error)) return error
  const [, named, ofA2A] = unknown.exec(error.message) ?? []
  const id = named ?? ofA2A
  const read = knownIds[error.code]
  if (id === undefined || read === undefined) return error
  // The error stands, whatever happens to the question for a better word.
  const known = await read(client, AbortSignal.timeout(patienceMs)).catch(() => [])
  const meant = nearest(id, known)
  // An id that is there may be of no use here, such as a run of another session.
  if (meant === undefined || meant === id) return error
  return new AppError(error.code, `${error.message.replace(/[^.]$/, '$&.')} Did you mean '${meant}'?`, { cause: error })
}

type ReadIds = (client: Client, signal: AbortSignal) => Promise<string[]>

/** The newest of each. */
const knownIds: Partial<Record<ErrorCode, ReadIds>> = {
  agent_not_found: async ({ agents }, signal) => (await agents.list(undefined, { signal })).agents.map(({ id }) => id),
  session_not_found: async ({ sessions }, signal) =>
    (await sessions.list({ view: 'head' }, { limit: 100, signal })).sessions.map(({ session_id }) => session_id),
  run_not_found: async ({ runs }, signal) =>
    (await runs.list({}, { limit: 100, signal })).runs.map(({ run_id }) => run_id),
  document_not_found: async ({ knowledge }, signal) =>
    (await knowledge.documents.list({}, { limit: 100, signal })).documents.flatMap(({ document_id, source }) => [
      source,
      document_id,
    ]),
}
