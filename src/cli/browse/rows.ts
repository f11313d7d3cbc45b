import type { Client } from '../../client/client.ts'
import type { EntityKind } from '../../core/run.ts'
import type { Session } from '../../core/session.ts'
import { saidIn } from '../terminal/message-text.ts'
import { terminalLine } from '../terminal/text.ts'
import type { Row } from './row-list.ts'
import { clip } from './transcript.ts'

const maxChars = 400

export interface RowPage {
  rows: Row[]
  cursor: string | null
}

export async function readSessions(
  client: Client,
  cursor: string | undefined,
  signal: AbortSignal,
  limit = 50,
): Promise<RowPage> {
  const { sessions, next_cursor } = await client.sessions.list({}, { limit, cursor, signal })
  return { rows: sessions.map(toRow), cursor: next_cursor }
}

function toRow(session: Session): Row {
  const latest = session.runs.findLast((run) => run.parent_run_id === null)
  return {
    key: session.session_id,
    sessionId: session.session_id,
    runId: undefined,
    title: shorten(session.name ?? '') || shorten(session.session_id),
    owner: ownerOf(session),
    runs: session.run_count,
    last: latest === undefined ? undefined : { runId: latest.run_id, status: latest.status },
    at: session.updated_at,
    words: undefined,
  }
}

function ownerOf({ agent_id, team_id, workflow_id }: Session): { id: string; kind: EntityKind } | undefined {
  if (agent_id !== null) return { id: agent_id, kind: 'agent' }
  if (team_id !== null) return { id: team_id, kind: 'team' }
  return workflow_id === null ? undefined : { id: workflow_id, kind: 'workflow' }
}

/** On one line and safe for the terminal. A copy, so that the larger text can be freed. */
export function shorten(text: string): string {
  return terminalLine(clip(text, maxChars))
}

/** The run's answer, or its input while there is no answer. */
export async function readLastWords(client: Client, runId: string, signal: AbortSignal): Promise<string> {
  const { messages } = await client.runs.get(runId, { signal })
  const said = messages.findLast(({ parts }) => saidIn(parts).trim() !== '')
  return said === undefined ? '' : `${said.role === 'user' ? '> ' : ''}${shorten(saidIn(said.parts).trimStart())}`
}
