import type { Client } from '../../client/client.ts'
import type { SessionOverview } from '../../core/session.ts'
import { titleOf } from '../../core/text/title.ts'
import { plainLine } from '../markdown/plain-line.ts'
import { saidIn } from '../terminal/message-text.ts'
import { terminalLine } from '../terminal/text.ts'
import type { Row } from './row-list.ts'
import { clip } from './transcript.ts'

const maxChars = 400
/** Of a session without a name and without a text by a user. An id says nothing to a person. */
export const untitled = 'Untitled'

export interface RowPage {
  rows: Row[]
  cursor: string | null
  /** The sessions of all pages, when it was asked for. */
  total?: number | undefined
}

/** A page of 100, the server's maximum. */
export async function readSessions(
  client: Client,
  cursor: string | undefined,
  signal: AbortSignal,
  total = false,
): Promise<RowPage> {
  const list = await client.sessions.list({ view: 'head', total }, { limit: 100, cursor, signal })
  return { rows: list.sessions.map(toRow), cursor: list.next_cursor, total: list.total }
}

function toRow(head: SessionOverview): Row {
  const { session_id, name, title, entity_id, entity_kind, run_count, status, updated_at } = head
  return {
    key: session_id,
    sessionId: session_id,
    hit: undefined,
    title: shorten(name ?? '') || plainLine(title ?? '') || untitled,
    owner: entity_id === null ? undefined : { id: shorten(entity_id), kind: entity_kind ?? undefined },
    runs: run_count,
    last: status ?? undefined,
    at: updated_at,
    words: undefined,
  }
}

/** On one line and safe for the terminal. A copy, so that the larger text can be freed. */
export function shorten(text: string): string {
  return terminalLine(clip(text, maxChars))
}

/** The last turn's answer, or its input while there is no answer. */
export async function readLastWords(client: Client, sessionId: string, signal: AbortSignal): Promise<string> {
  const { messages } = await client.sessions.history(sessionId, { interactions: 1, signal })
  const said = messages.findLast(({ parts }) => saidIn(parts).trim() !== '')
  return said === undefined ? '' : `${said.role === 'user' ? '> ' : ''}${preview(saidIn(said.parts))}`
}

function preview(text: string): string {
  return clip(plainLine(clip(text.trimStart(), 4 * maxChars)), maxChars)
}

/** The title of a session that is not in the list. */
export async function readTitle(client: Client, sessionId: string, signal: AbortSignal): Promise<string> {
  const { name, runs, run_count } = await client.sessions.get(sessionId, { signal })
  const named = shorten(name ?? '')
  const first = runs.length < run_count ? undefined : runs[0]
  if (named !== '' || first === undefined) return named || untitled
  const { messages } = await client.runs.get(first.run_id, { signal })
  const asked = messages.find(({ role }) => role === 'user')
  return plainLine(titleOf(asked?.content ?? '') ?? '') || untitled
}
