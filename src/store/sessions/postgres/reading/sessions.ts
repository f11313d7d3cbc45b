import type { Page, PageRequest } from '../../../../core/page.ts'
import type { OwnerKind, Session, SessionRecord } from '../../../../core/session.ts'
import type { SessionBasis, SessionListFilter } from '../../../../core/store.ts'
import type { Summary } from '../../../../core/summary.ts'
import { encodeCursor, type Keyset } from '../../../rules/cursor.ts'
import { BatchedReads } from '../../rows/batched-reads.ts'
import { rowBytes } from '../../rows/budget.ts'
import { fromJson, sessionRecordOf } from '../../rows/rows.ts'
import { listKeys } from './keys.ts'
import { listedKeys, newestFirst, Values } from './listed.ts'
import { perRequest, type Reader, type Requested, wholeHeads } from './records.ts'
import { type HeadColumns, headColumns, toListed } from './rows.ts'
import { selectSummary, toSummary } from './summaries.ts'

const shownRuns = 100
const listedRuns = 10

interface SessionColumns {
  session_id: string
  agent_id: string | null
  team_id: string | null
  workflow_id: string | null
  user_id: string | null
  name: string | null
  metadata: string | null
  state: string | null
  created_at: string
  updated_at: string
  revision: number
  run_count: number
  /** Without its runs. */
  bytes: number
  /** False: the statement left out the texts, because they are large. */
  is_whole: boolean
  owners: [kind: OwnerKind, ownerId: string][]
  runs: HeadColumns[]
  summary: Summary | null
}

const bytes = `(coalesce(octet_length(metadata), 0) + coalesce(octet_length(state), 0) + coalesce(
  (SELECT octet_length(content) FROM summary WHERE summary.session_id = session.session_id), 0))`

/** `from` follows FROM session. */
const sessions = (newestRuns: string, maxBytes: string, from: string) => `SELECT session_id, agent_id, team_id,
    workflow_id, user_id, name, created_at, updated_at, revision, run_count, bytes, bytes <= ${maxBytes} AS is_whole,
    CASE WHEN bytes <= ${maxBytes} THEN metadata END AS metadata, CASE WHEN bytes <= ${maxBytes} THEN state END AS state,
    (SELECT coalesce(json_agg(json_build_array(kind, owner_id) ORDER BY position), '[]') FROM session_owner
       WHERE session_owner.session_id = session.session_id) AS owners,
    (SELECT coalesce(json_agg(turn), '[]') FROM (SELECT ${headColumns} FROM run
       WHERE run.session_id = session.session_id AND parent_run_id IS NULL
       ORDER BY run_number DESC LIMIT ${newestRuns}) AS turn) AS runs,
    CASE WHEN bytes <= ${maxBytes} THEN (SELECT row_to_json(found)
       FROM (${selectSummary('session.session_id')}) AS found) END AS summary
  FROM (SELECT *, ${bytes} AS bytes FROM session ${from} LIMIT 1) AS session`

const selectSessions = perRequest(sessions('$3', '$2', 'WHERE session_id = request.id'))
const selectSession = sessions('$2', `${Number.MAX_SAFE_INTEGER}`, 'WHERE session_id = $1')
const ofListed = (most: string) => sessions(`${listedRuns}`, most, 'WHERE session_id = listed_id')
const selectListed = `SELECT found.* FROM unnest($1::text[]) WITH ORDINALITY AS listed(listed_id, place)
  CROSS JOIN LATERAL (${ofListed('$2')}) AS found ORDER BY place`

/** Sessions by their ids; those of one turn share a statement. */
export function sessionReads(sql: Reader, maxBytes: number): (sessionId: string) => Promise<SessionRecord | undefined> {
  const reads = new BatchedReads((ids) =>
    sql.all<SessionColumns & Requested>(selectSessions, [ids, rowBytes(maxBytes, ids.length, 1), shownRuns]),
  )
  return async (sessionId) => {
    const [row] = await reads.read(sessionId)
    return row && (row.is_whole ? toSession(sql, row) : readSession(sql, sessionId))
  }
}

/** In a transaction or by itself. */
export async function readSession(
  sql: Reader,
  sessionId: string,
  newestRuns = shownRuns,
): Promise<SessionRecord | undefined> {
  const [row] = await sql.all<SessionColumns>(selectSession, [sessionId, newestRuns])
  return row && toSession(sql, row)
}

async function toSession(sql: Reader, row: SessionColumns): Promise<SessionRecord> {
  const runs = (await wholeHeads(sql, row.runs)).map(toListed).reverse()
  return sessionRecordOf(
    {
      sessionId: row.session_id,
      agentId: row.agent_id,
      teamId: row.team_id,
      workflowId: row.workflow_id,
      userId: row.user_id,
      name: row.name,
      metadata: row.metadata,
      state: row.state,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      revision: row.revision,
      runCount: row.run_count,
    },
    row.owners.map(([kind, ownerId]) => ({ kind, ownerId })),
    runs,
    row.summary && toSummary(row.summary),
  )
}

const selectBases = perRequest('SELECT state, user_id FROM session WHERE session_id = request.id LIMIT 1')

/** What runs need of their sessions; those of one turn share a statement. */
export function basisReads(sql: Reader): (sessionId: string) => Promise<SessionBasis | undefined> {
  const reads = new BatchedReads((ids) =>
    sql.all<{ state: string | null; user_id: string | null } & Requested>(selectBases, [ids]),
  )
  return async (sessionId) => {
    const [row] = await reads.read(sessionId)
    return row && { state: fromJson(row.state), user_id: row.user_id }
  }
}

/** Returns fewer than `limit` when sessions are large. */
export async function sessionPage(
  sql: Reader,
  filter: SessionListFilter,
  after: Keyset | undefined,
  page: PageRequest,
  maxBytes: number,
): Promise<Page<Session>> {
  const most = rowBytes(maxBytes, 1, 100)
  if (filter.status !== undefined) {
    const { keys, next } = await listKeys(sql, filter, after, page)
    const rows = await sql.all<SessionColumns>(selectListed, [keys.map(({ id }) => id), most])
    const { items, isWhole } = await readListed(sql, rows, maxBytes)
    const cut = keys.find(({ id }) => id === items.at(-1)?.session_id)
    return { items, next: isWhole || cut === undefined ? next : encodeCursor(cut) }
  }
  const values = new Values()
  const listed = listedKeys(filter, after, values, page.limit + 1)
  const rows = await sql.all<SessionColumns>(
    `SELECT found.* FROM (${listed}) AS listed CROSS JOIN LATERAL (${ofListed(values.add(most))}) AS found ${newestFirst}`,
    values.all,
    'fresh',
  )
  const { items, isWhole } = await readListed(sql, rows.slice(0, page.limit), maxBytes)
  const last = items.at(-1)
  if ((isWhole && rows.length <= page.limit) || last === undefined) return { items, next: null }
  return { items, next: encodeCursor({ time: last.updated_at, id: last.session_id }) }
}

/** As many as one read may give; at least one. */
async function readListed(
  sql: Reader,
  rows: readonly SessionColumns[],
  maxBytes: number,
): Promise<{ items: Session[]; isWhole: boolean }> {
  const items: Session[] = []
  let left = maxBytes
  for (const row of rows) {
    left -= row.bytes
    if (left < 0 && items.length > 0) return { items, isWhole: false }
    const found = row.is_whole ? await toSession(sql, row) : await readSession(sql, row.session_id, listedRuns)
    if (found !== undefined) items.push(found.session)
  }
  return { items, isWhole: true }
}
