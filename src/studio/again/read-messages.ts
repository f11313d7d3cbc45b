import type { Json } from '../../core/json.ts'
import type { Studio } from '../state/studio.ts'

/** What the model was told in a call. Throws when the record does not have all of it any more. */
export async function readMessages(
  { client }: Studio,
  runId: string,
  call: string | undefined,
  signal?: AbortSignal,
): Promise<Json[]> {
  const { calls } = await client.runs.trace(runId, { call, signal })
  const messages = calls[0]?.messages
  if (Array.isArray(messages)) return messages
  throw new Error('Some messages of the prompt are gone.')
}
