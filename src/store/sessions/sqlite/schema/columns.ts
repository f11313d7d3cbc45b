import { getTableColumns } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { runs, sessions } from './schema.ts'

/** The types of these columns, in the order of the list. */
export type ValuesOf<Row, Names extends readonly (keyof Row)[]> = {
  -readonly [Index in keyof Names]: Row[Names[Index]]
}

export function namesOf<Table extends SQLiteTable>(
  table: Table,
  columns: readonly (keyof Table['_']['columns'])[],
): string[] {
  const all: Table['_']['columns'] = getTableColumns(table)
  return columns.map((column) => all[column]?.name as string)
}

/** In the order in which a batch gives their values. */
export const sessionColumns = [
  'sessionId',
  'agentId',
  'teamId',
  'workflowId',
  'userId',
  'name',
  'metadata',
  'state',
  'createdAt',
  'updatedAt',
  'revision',
  'runCount',
] as const satisfies (keyof typeof sessions.$inferSelect)[]

/** For a run that starts; the statement sets its first fence and reserve. */
export const startedRunColumns = [
  'runId',
  'sessionId',
  'entityId',
  'status',
  'userId',
  'parentRunId',
  'truncated',
  'owner',
  'lastSeq',
  'claimKey',
  'claimHash',
  'claimExpiresAt',
  'startState',
  'begun',
  'ended',
  'input',
  'output',
  'lastBatch',
  'given',
] as const satisfies (keyof typeof runs.$inferSelect)[]
