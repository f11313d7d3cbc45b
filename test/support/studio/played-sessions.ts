import type { PageClient } from '../../../src/client/page.ts'
import type { SessionListFilter } from '../../../src/client/sessions.ts'
import type { PageOptions } from '../../../src/client/transport/connection.ts'
import { SessionList } from '../../../src/studio/state/sessions/sessions.ts'
import type { SessionHead } from '../../../src/wire/session.ts'

type Asked = SessionListFilter & Pick<PageOptions, 'cursor' | 'limit'>

/** The n-th second of the sessions' own time. */
export const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString()

export function headOf(n: number, fields: Partial<SessionHead> = {}): SessionHead {
  const usual = { session_id: `ses_${n}`, name: null, title: `session ${n}`, entity_id: 'docs', entity_kind: 'agent' }
  const more = {
    user_id: null,
    run_count: 1,
    status: 'completed',
    waiting: 0,
    usage: null,
    usage_by_model: [],
    cost: null,
  }
  return { ...usual, ...more, forked_from: null, created_at: at(0), updated_at: at(n), ...fields } as SessionHead
}

/** A list over a server that is played: its sessions are an array, and it answers when it is told to, if it is `held`. */
export function playSessions(count: number) {
  const stored = new Map(Array.from({ length: count }, (_, n) => [`ses_${n}`, headOf(n)]))
  const asked: Asked[] = []
  const waiting: (() => void)[] = []
  let isHeld = false
  let failure: Error | undefined
  const answer = ({ status, agent_id, updated_before, cursor, limit = 20 }: Asked) => {
    const all = [...stored.values()]
      .filter((head) => status === undefined || head.status === status)
      .filter((head) => agent_id === undefined || head.entity_id === agent_id)
      .filter((head) => updated_before === undefined || head.updated_at < updated_before)
      .sort((one, other) => (one.updated_at < other.updated_at ? 1 : -1))
    const rest = all.filter((head) => cursor === undefined || head.updated_at < cursor)
    const sessions = rest.slice(0, limit).map((head) => ({ ...head }))
    const next_cursor = rest.length > limit ? (sessions.at(-1)?.updated_at ?? null) : null
    return { sessions, count: sessions.length, next_cursor, total: all.length }
  }
  const client = {
    sessions: {
      async list({ total, ...filter }: SessionListFilter, { cursor, limit, signal }: PageOptions = {}) {
        const request = { ...filter, cursor, limit }
        asked.push(request)
        if (failure !== undefined) throw failure
        const { total: all, ...page } = answer(request)
        if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve))
        signal?.throwIfAborted()
        return { ...page, ...(total === true && { total: all }) }
      },
    },
  }
  const page = client as unknown as PageClient
  const list = new SessionList(page)
  const shown = (first: number, last: number) =>
    Array.from({ length: last - first }, (_, place) => list.at(first + place)?.id ?? '–')
  /** The server has it so from now on, and the list is told. */
  const change = (...heads: SessionHead[]) => {
    for (const head of heads) stored.set(head.session_id, head)
    list.changed(heads)
  }
  const remove = (...ids: string[]) => {
    for (const id of ids) stored.delete(id)
    list.deleted(new Set(ids))
  }
  return {
    ...{ client: page, list, stored, asked, shown, change, remove },
    /** What it was asked meanwhile was seen as it was then, and is answered only now. */
    async release() {
      isHeld = false
      for (const resolve of waiting.splice(0)) resolve()
      await settled()
    },
    hold() {
      isHeld = true
    },
    fail(error: Error | undefined) {
      failure = error
    },
    /** Looks at ten rows from `first` on, until all that this asks for has come. */
    async look(first: number, id?: string) {
      list.looksAt({ first, last: first + 10, isAtTop: first === 0, id })
      await settled()
    },
  }
}

export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}
