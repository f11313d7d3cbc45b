import { AppError } from '../../core/error.ts'
import { Pace } from '../../core/pace.ts'
import type { RunCopy, SessionCopy, SessionRecord } from '../../core/session.ts'
import type { Connection, SqlValue } from './connection.ts'
import { encodeBatch } from './event-batch.ts'
import { startedRunColumns } from './hot-write.ts'
import { begunOf, endedOf, messagesOf, sessionColumns, summaryColumns, toJson } from './rows.ts'
import { addOwners, getSession } from './sessions.ts'
import { restoreHandovers } from './sharing/handovers.ts'

/* Whole sessions, put in at once. */

const charactersAtOnce = 1024 * 1024
const runColumns = [...startedRunColumns, 'fence', 'reserve_until']
const places = (columns: readonly unknown[]) => columns.map(() => '?').join(', ')
const values = (columns: readonly string[]) => columns.map((_, place) => `value ->> ${place}`).join(', ')

/** The rows of runs with their events, as JSON documents of a bounded size. */
interface RunDocuments {
  ids: string
  runs: string
  events: string
}

/** Everything that the transaction needs, made before it so that nobody waits for that. */
export interface PreparedCopy {
  copy: SessionCopy
  documents: RunDocuments[]
}

export async function prepareCopy(copy: SessionCopy): Promise<PreparedCopy> {
  const pace = new Pace()
  const documents: RunDocuments[] = []
  let ids: string[] = []
  let runs: string[] = []
  let events: string[] = []
  let characters = 0
  const flush = () => {
    if (ids.length > 0) documents.push({ ids: JSON.stringify(ids), runs: `[${runs}]`, events: `[${events}]` })
    ids = []
    runs = []
    events = []
    characters = 0
  }
  for (const one of copy.runs) {
    const rows = rowsOf(one)
    ids.push(one.run.run_id)
    runs.push(rows.run)
    events.push(...rows.events)
    for (const text of [rows.run, ...rows.events]) characters += text.length
    if (characters >= charactersAtOnce) flush()
    await pace.step()
  }
  flush()
  return { copy, documents }
}

function rowsOf({ run, events }: RunCopy): { run: string; events: string[] } {
  const batch = encodeBatch(events)
  const parts = batch?.parts ?? []
  const output = run.messages.filter(({ role }) => role === 'assistant')
  const ended = { ...run, completed_at: run.completed_at ?? run.created_at, end_seq: run.end_seq ?? 0 }
  const lastSeq = batch?.lastSeq ?? 1
  const row: Record<(typeof runColumns)[number], unknown> = {
    run_id: run.run_id,
    run_session_id: run.session_id,
    entity_id: run.entity_id,
    status: run.status,
    run_user_id: run.user_id,
    parent_run_id: run.parent_run_id,
    truncated: run.truncated ? 1 : 0,
    owner: '',
    recorded_seq: lastSeq,
    run_claim_key: null,
    run_claim_hash: null,
    run_claim_expires_at: null,
    start_state: null,
    begun: begunOf(run),
    ended: endedOf(ended),
    input: messagesOf(run.messages.filter(({ role }) => role === 'user')),
    output: output.length === 0 ? null : messagesOf(output),
    last_batch: parts.at(-1)?.text ?? null,
    fence: 1,
    reserve_until: Math.max(lastSeq, ended.end_seq),
  }
  return {
    run: JSON.stringify(runColumns.map((column) => row[column])),
    events: parts.slice(0, -1).map(({ firstSeq, text }) => JSON.stringify([run.run_id, firstSeq, text])),
  }
}

export async function restoreSession(writer: Connection, { copy, documents }: PreparedCopy): Promise<SessionRecord> {
  const { session, summary, runs } = copy
  const id = session.session_id
  const turns = runs.filter(({ run }) => run.parent_run_id === null).length
  const fields: SqlValue[] = [id, session.agent_id, session.team_id, session.workflow_id, session.user_id, session.name]
  fields.push(toJson(session.metadata), toJson(session.state), session.created_at, session.updated_at, 1, turns)
  const made = await writer.run(
    `INSERT INTO sessions (${sessionColumns.join(', ')}) VALUES (${places(sessionColumns)}) ON CONFLICT DO NOTHING`,
    fields,
  )
  if (made === 0) throw new AppError('conflict', `There is a session '${id}' already.`)
  const { agent_ids, team_ids, workflow_ids, user_ids } = session.shared_with
  const earlier = { agent: agent_ids, team: team_ids, workflow: workflow_ids, user: user_ids }
  for (const [kind, owners] of Object.entries(earlier)) {
    for (const owner of owners) await addOwners(writer, id, [[kind, owner]], session.updated_at)
  }
  for (const document of documents) await insertRuns(writer, document)
  await restoreHandovers(writer, copy)
  if (summary !== null) {
    const { content, model, run_count, message_count, created_at } = summary
    await writer.run(`INSERT INTO summaries (${summaryColumns.join(', ')}) VALUES (${places(summaryColumns)})`, [
      id,
      content,
      model,
      run_count,
      message_count,
      created_at,
    ])
  }
  return getSession(writer, id)
}

async function insertRuns(writer: Connection, { ids, runs, events }: RunDocuments): Promise<void> {
  const [taken] = await writer.all('SELECT run_id FROM json_each(?) CROSS JOIN runs ON run_id = value LIMIT 1', [ids])
  if (taken !== undefined) throw new AppError('conflict', `There is a run '${String(taken.run_id)}' already.`)
  await writer.run(
    `INSERT INTO runs (${runColumns.join(', ')}) SELECT ${values(runColumns)} FROM json_each(?) ORDER BY key`,
    [runs],
  )
  await writer.run(
    `INSERT INTO events (event_run_number, first_seq, batch)
     SELECT run_number, value ->> 1, value ->> 2 FROM json_each(?) CROSS JOIN runs ON run_id = value ->> 0`,
    [events],
  )
}
