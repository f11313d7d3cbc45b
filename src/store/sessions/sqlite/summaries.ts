import { asc, eq, sql } from 'drizzle-orm'
import { notFound } from '../../../core/error.ts'
import type { Summary } from '../../../core/summary.ts'
import type { Connection } from '../../sqlite/connection.ts'
import { type Places, placesOf, query } from '../../sqlite/query.ts'
import { type SummaryRow, toSummary } from '../rows/rows.ts'
import { sessions, summaries, summaryJobs } from './schema/schema.ts'

interface OfSession {
  sessionId: string
}

const raiseRevision = query((database, { sessionId }: Places<OfSession>) =>
  database
    .update(sessions)
    .set({ revision: sql`${sessions.revision} + 1` })
    .where(eq(sessions.sessionId, sessionId)),
)
const deleteSummary = query((database, { sessionId }: Places<OfSession>) =>
  database.delete(summaries).where(eq(summaries.sessionId, sessionId)),
)
const insertSummary = query((database, _: Places<SummaryRow>) => database.insert(summaries).values(placesOf(summaries)))
const selectSummary = query((database, { sessionId }: Places<OfSession>) =>
  database.select().from(summaries).where(eq(summaries.sessionId, sessionId)),
)

/** False when the turn `last` has been replaced. */
export async function saveSummary(writer: Connection, summary: Summary, last?: string): Promise<boolean> {
  const sessionId = summary.session_id
  if (last !== undefined) {
    const [shown] = await writer.all('SELECT 1 FROM runs WHERE run_id = ? AND replaced_by IS NULL', [last])
    const [session] = await selectSession(writer, { sessionId })
    if (shown === undefined && session !== undefined) return false
  }
  if ((await raiseRevision(writer, { sessionId })) === 0) throw notFound('session', sessionId)
  await deleteSummary(writer, { sessionId })
  await addSummary(writer, summary)
  await dropSummaryJob(writer, sessionId)
  return true
}

export async function addSummary(writer: Connection, summary: Summary): Promise<void> {
  await insertSummary(writer, {
    sessionId: summary.session_id,
    content: summary.content,
    model: summary.model,
    runCount: summary.run_count,
    messageCount: summary.message_count,
    createdAt: summary.created_at,
  })
}

export async function findSummary(connection: Connection, sessionId: string): Promise<Summary | undefined> {
  const [row] = await selectSummary(connection, { sessionId })
  return row && toSummary(row)
}

const selectSession = query((database, { sessionId }: Places<OfSession>) =>
  database.select({ sessionId: sessions.sessionId }).from(sessions).where(eq(sessions.sessionId, sessionId)),
)
const insertJob = query((database, { sessionId, scheduledAt }: Places<OfSession & { scheduledAt: string }>) =>
  database
    .insert(summaryJobs)
    .values({ sessionId, scheduledAt })
    .onConflictDoUpdate({ target: summaryJobs.sessionId, set: { attempts: 0 } }),
)
const countAttempt = query((database, { sessionId }: Places<OfSession>) =>
  database
    .update(summaryJobs)
    .set({ attempts: sql`${summaryJobs.attempts} + 1` })
    .where(eq(summaryJobs.sessionId, sessionId))
    .returning({ attempts: summaryJobs.attempts }),
)
const deleteJob = query((database, { sessionId }: Places<OfSession>) =>
  database.delete(summaryJobs).where(eq(summaryJobs.sessionId, sessionId)),
)
const selectJobs = query((database, _: Places<object>) =>
  database
    .select({ sessionId: summaryJobs.sessionId })
    .from(summaryJobs)
    .orderBy(asc(summaryJobs.scheduledAt), asc(summaryJobs.sessionId)),
)

export async function scheduleSummary(writer: Connection, sessionId: string, at: string): Promise<void> {
  const [session] = await selectSession(writer, { sessionId })
  if (session === undefined) throw notFound('session', sessionId)
  await insertJob(writer, { sessionId, scheduledAt: at })
}

export async function beginSummaryJob(writer: Connection, sessionId: string): Promise<number> {
  const [job] = await countAttempt(writer, { sessionId })
  return job?.attempts ?? 0
}

export async function dropSummaryJob(writer: Connection, sessionId: string): Promise<void> {
  await deleteJob(writer, { sessionId })
}

/** Oldest first. */
export async function listSummaryJobs(connection: Connection): Promise<string[]> {
  return (await selectJobs(connection, {})).map(({ sessionId }) => sessionId)
}
