import type { PageClient } from '../../../client/page.ts'
import type { RunFile } from '../../../wire/message.ts'

export interface FoundFile {
  part: RunFile
  runId: string
  /** Whose run it is, if it is inside a turn. */
  member: string | undefined
}

export interface FilesFound {
  /** By their ids: a file that is handed on is listed once. Those that the session does not keep, by a number. */
  files: ReadonlyMap<string | number, FoundFile>
  /** Where the runs were not read further; null: all were. */
  cursor: string | null
}

/** As many as the server gives at once, and how often it is asked at a time. */
const runsAtOnce = 100
const pagesAtOnce = 10

/** The files of the newest runs, replaced ones and those inside turns too; with `found`, also of the next ones after those. */
export async function findFiles(
  { sessions }: PageClient,
  sessionId: string,
  found: FilesFound | undefined,
  signal: AbortSignal | undefined,
): Promise<FilesFound> {
  const files = new Map(found?.files)
  let cursor: string | null | undefined = found?.cursor
  for (let pages = 0; cursor !== null && pages < pagesAtOnce; pages++) {
    const page = await sessions.runs(sessionId, { files: true }, { limit: runsAtOnce, cursor, signal })
    for (const run of page.runs) {
      const member = run.parent_run_id === null ? undefined : run.entity_id
      // One that was handed on is of the run that began earlier.
      for (const part of run.files ?? []) files.set(part.file_id ?? files.size, { part, runId: run.run_id, member })
    }
    cursor = page.next_cursor
  }
  return { files, cursor: cursor ?? null }
}
