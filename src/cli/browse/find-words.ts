import type { Client } from '../../client/client.ts'
import { type MessageHit, searchWordsOf } from '../../core/text/message-search.ts'
import { plainLine } from '../markdown/plain-line.ts'
import type { Row } from './row-list.ts'
import { type RowPage, shorten, untitled } from './rows.ts'

/** As it is typed, the last word is the beginning of one. */
export function asTyped(words: string): string {
  return /[\p{L}\p{N}_]$/u.test(words) ? `${words}*` : words
}

export async function findWords(
  client: Client,
  words: string,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<RowPage> {
  if (searchWordsOf(words).length === 0) return { rows: [], cursor: null }
  const { messages, next_cursor } = await client.sessions.search(words, {}, { limit: 50, cursor, signal })
  return { rows: messages.map(toRow), cursor: next_cursor }
}

function toRow({ session_id, run_id, message_id, entity_id, role, created_at, snippet }: MessageHit): Row {
  return {
    key: message_id,
    sessionId: session_id,
    hit: { runId: run_id, role },
    title: untitled,
    owner: { id: shorten(entity_id), kind: undefined },
    runs: undefined,
    last: undefined,
    at: created_at,
    words: `${role === 'user' ? '> ' : ''}${plainLine(snippet)}`,
  }
}

/** Whether all words are in what the list shows of a session. */
export function matches({ title, owner, sessionId }: Row, typed: string): boolean {
  const shown = `${title} ${owner?.id ?? ''} ${sessionId}`.toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => shown.includes(word))
}
