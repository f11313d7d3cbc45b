import { invalidCursor } from '../../../core/error.ts'
import type { Page, PageRequest } from '../../../core/page.ts'
import { isTurn } from '../../../core/run.ts'
import { findWords, type MessageHit, type MessageSearch, searchTextOf } from '../../../core/text/message-search.ts'
import { Pace } from '../../../runtime/yield.ts'
import { decodeCursor, encodeCursor, isAfter, type Keyset } from '../../rules/cursor.ts'
import { isReadableBy, isReplacedFor } from './handovers.ts'
import type { MemoryState } from './rows.ts'
import { belongsTo, getSession } from './sessions.ts'

/** Reads messages until the page is full, and yields to the event loop in between. */
export async function searchMessages(
  state: MemoryState,
  search: MessageSearch,
  { limit, cursor }: PageRequest,
): Promise<Page<MessageHit>> {
  const from = toPlace(cursor)
  const pace = new Pace()
  const hits: { hit: MessageHit; cursor: string }[] = []
  const runs = [...state.runs.values()]
    .filter(({ record }) => isTurn(record))
    .filter(({ record }) => search.session_id === undefined || record.session_id === search.session_id)
    .filter((run) => {
      const session = getSession(state, run.record.session_id)
      return belongsTo(session, search) && (search.reader === undefined || isReadableBy(session, run, search.reader))
    })
    .map((run) => ({
      record: run.record,
      isHidden: run.unchecked !== undefined,
      isReplaced: isReplacedFor(getSession(state, run.record.session_id), run, search.reader),
      keyset: { time: run.record.created_at, id: run.record.run_id },
    }))
    .sort((a, b) => (isAfter(a.keyset, b.keyset) ? 1 : -1))
  for (const { record, isHidden, isReplaced, keyset } of runs) {
    const isFirst = from !== undefined && keyset.time === from.keyset.time && keyset.id === from.keyset.id
    if (from !== undefined && !isFirst && !isAfter(keyset, from.keyset)) continue
    const { run_id, session_id, entity_id } = record
    for (const [place, message] of [...record.messages.entries()].reverse()) {
      if (place === 0 && isHidden) continue
      if (isFirst && place >= from.message) continue
      const snippet = await pace.through(findWords(searchTextOf(message), search.words))
      if (snippet === undefined) continue
      if (hits.length === limit) return { items: hits.map(({ hit }) => hit), next: hits.at(-1)?.cursor ?? null }
      const { message_id, role, created_at } = message
      hits.push({
        hit: {
          session_id,
          run_id,
          message_id,
          entity_id,
          role,
          created_at,
          snippet,
          ...(isReplaced && { replaced: true }),
        },
        cursor: encodeCursor({ time: keyset.time, id: `${keyset.id} ${place}` }),
      })
    }
  }
  return { items: hits.map(({ hit }) => hit), next: null }
}

function toPlace(cursor: string | undefined): { keyset: Keyset; message: number } | undefined {
  const after = decodeCursor(cursor)
  if (after === undefined) return undefined
  const [, id, message] = /^(\S+) (\d{1,9})$/.exec(after.id) ?? []
  if (id !== undefined) return { keyset: { time: after.time, id }, message: Number(message) }
  throw invalidCursor()
}
