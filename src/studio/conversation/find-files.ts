import type { PageClient } from '../../client/page.ts'
import type { FilePart } from '../../core/message.ts'
import type { Message } from '../../wire/message.ts'

export interface FoundFile {
  part: FilePart
  runId: string
  by: 'attached to' | 'made by'
  /** Whose run it is, if it is inside a turn. */
  member: string | undefined
}

export interface FilesFound {
  /** By their ids: a file that is handed on is listed once. Those that the session does not keep, by a number. */
  files: ReadonlyMap<string | number, FoundFile>
  /** The turn before which others were not read; null: none. */
  before: string | null
  /** Where the runs inside were not read further; null: all were. */
  cursor: string | null
}

/** As many turns as the server gives at once. */
const turnsAtOnce = 1000
const runsAtOnce = 100
/** Each is a request of its own. */
const mostInside = 100

/** The files of the newest turns, replaced ones too, and of the runs inside; with `found`, of the next ones after those. */
export async function findFiles(
  { sessions, runs }: PageClient,
  sessionId: string,
  found: FilesFound | undefined,
  signal: AbortSignal | undefined,
): Promise<FilesFound> {
  const files = new Map(found?.files)
  const collect = (messages: readonly Message[], member?: string) => {
    for (const { run_id: runId, role, parts } of messages) {
      const by = role === 'user' ? 'attached to' : 'made by'
      for (const part of parts) {
        if (part.type !== 'file') continue
        const id = part.file_id ?? files.size
        if (!files.has(id)) files.set(id, { part, runId, by, member })
      }
    }
  }
  let before = found?.before
  if (before !== null) {
    const settings = { interactions: turnsAtOnce, replaced: true, before, signal }
    const history = await sessions.history(sessionId, settings)
    collect(history.messages)
    before = (history.has_more && history.runs[0]?.run_id) || null
  }
  let cursor = found === undefined ? undefined : found.cursor
  for (let read = 0, inside = 0; cursor !== null && read < turnsAtOnce && inside < mostInside; ) {
    const page = await runs.list({ session_id: sessionId }, { limit: runsAtOnce, cursor, signal })
    const members = page.runs.filter(({ parent_run_id: parent }) => parent !== null)
    const details = await Promise.all(members.map(({ run_id }) => runs.get(run_id, { signal })))
    for (const { messages, entity_id } of details) collect(messages, entity_id)
    read += page.runs.length
    inside += members.length
    cursor = page.next_cursor
  }
  return { files, before, cursor: cursor ?? null }
}
