import type { Client } from '../../client/client.ts'
import type { MessageHit } from '../../core/text/message-search.ts'
import type { Row } from './row-list.ts'
import { type RowPage, shorten } from './rows.ts'

export async function findWords(
  client: Client,
  words: string,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<RowPage> {
  const { messages, next_cursor } = await client.sessions.search(words, {}, { limit: 50, cursor, signal })
  return { rows: messages.map(toRow), cursor: next_cursor }
}

function toRow({ session_id, run_id, message_id, entity_id, role, created_at, snippet }: MessageHit): Row {
  return {
    key: message_id,
    sessionId: session_id,
    runId: run_id,
    title: shorten(session_id),
    owner: { id: shorten(entity_id), kind: undefined },
    runs: undefined,
    last: undefined,
    at: created_at,
    words: `${role === 'user' ? '> ' : ''}${shorten(snippet)}`,
  }
}
