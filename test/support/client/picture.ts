import type { Client, LiveEvent } from '../../../src/client/index.ts'

/** Sessions as a reader of the live stream knows them: the lists after `hello` and each `reset`, then what has changed. */
export interface Picture {
  /** By session, its name and the number of its turns. */
  readonly sessions: ReadonlyMap<string, string>
  readonly events: readonly LiveEvent[]
  readonly resets: string[]
  add(event: LiveEvent): Promise<void>
}

export function createPicture(client: Client): Picture {
  const sessions = new Map<string, string>()
  const events: LiveEvent[] = []
  const resets: string[] = []
  return {
    sessions,
    events,
    resets,
    async add(event) {
      events.push(event)
      if (event.type === 'reset') resets.push(event.reason)
      if (event.type === 'hello' || event.type === 'reset') {
        const listed = await listedBy(client)
        sessions.clear()
        for (const [id, text] of listed) sessions.set(id, text)
      } else if (event.type === 'session') sessions.set(event.head.session_id, describe(event.head))
      else if (event.type === 'session_deleted') sessions.delete(event.session_id)
    },
  }
}

export async function listedBy(client: Client): Promise<Map<string, string>> {
  const listed = new Map<string, string>()
  for (let cursor: string | undefined; ; ) {
    const page = await client.sessions.list({}, { limit: 100, cursor })
    for (const session of page.sessions) listed.set(session.session_id, describe(session))
    if (page.next_cursor === null) return listed
    cursor = page.next_cursor
  }
}

function describe({ name, run_count }: { name: string | null; run_count: number }): string {
  return `${name} ${run_count}`
}
