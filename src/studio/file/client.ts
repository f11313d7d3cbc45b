import type { PageClient } from '../../client/page.ts'
import type { RunEvent } from '../../wire/event.ts'
import type { CopiedRun, CopiedSession } from './copied-session.ts'

/** Gives what is in an export as a server would, and asks none. */
export function clientOf({ session, runs, turns, files }: CopiedSession): PageClient {
  const find = (runId: string): CopiedRun => {
    const found = runs.get(runId)
    if (found === undefined) throw Object.assign(new Error('The file has no such run.'), { status: 404 })
    return found
  }
  const absent = () => Promise.reject(new Error('It is not in the file. Import the file to look it up.'))
  const page = { count: 0, next_cursor: null }
  return {
    sessions: {
      list: async () => ({ sessions: [], ...page, total: 0 }),
      get: async () => session,
      history: async () => ({
        runs: turns.map(({ run }) => run),
        messages: turns.flatMap(({ run }) => run.messages),
        has_more: false,
      }),
      file: async (_sessionId: string, fileId: string) => ({
        bytes: Uint8Array.from(atob(files.get(fileId) ?? ''), (character) => character.charCodeAt(0)),
      }),
    },
    runs: {
      get: async (runId: string) => find(runId).run,
      list: async ({ parent_run_id }: { parent_run_id: string }) => ({
        runs: [...runs.values()].flatMap(({ run }) => (run.parent_run_id === parent_run_id ? [run] : [])),
        ...page,
      }),
      events: async (runId: string, { after = 0 } = {}) => eventsOf(find(runId), after),
      trace: absent,
    },
    knowledge: { chunk: absent },
  } as unknown as PageClient
}

async function* eventsOf({ events }: CopiedRun, after: number): AsyncGenerator<RunEvent> {
  for (const event of events) if (event.seq > after) yield event
}
