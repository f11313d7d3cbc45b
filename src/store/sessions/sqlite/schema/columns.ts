import { getTableColumns } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { runs, sessions } from './schema.ts'

/** The values of some columns of a row, in the order of a list of these columns. */
export type ValuesOf<Row, Names extends readonly (keyof Row)[]> = {
  -readonly [Index in keyof Names]: Row[Names[Index]]
}

/** The SQL names of some columns, in their order. */
export function namesOf<Table extends SQLiteTable>(
  table: Table,
  columns: readonly (keyof Table['_']['columns'])[],
): string[] {
  const all: Table['_']['columns'] = getTableColumns(table)
  return columns.map((column) => all[column]?.name as string)
}

/** The columns in the order in which a batch gives their values. */
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

/** The same of a run that starts: its first fence and reserve are set by the statement. */
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
] as const satisfies (keyof typeof runs.$inferSelect)[]
