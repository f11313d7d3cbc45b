import type { Connection } from '../../../postgres/connection.ts'
import { oldestTransactionSeconds } from '../../../postgres/oldest-transaction.ts'
import { inTransaction } from '../../../postgres/transaction.ts'
import { type ExaminedVectors, examineVectors } from '../../../vectors/examine.ts'
import { checkDatabase } from '../schema/database.ts'
import { documentsOf, has, hotStatement } from '../writing/hot-statement.ts'
import { type DatabaseOptions, withDatabase } from './database.ts'
import { type DatabaseStatus, statusOf } from './status.ts'

export interface Examination {
  status: DatabaseStatus
  /** Names with versions. */
  extensions: string[]
  connections: { used: number; allowed: number }
  /** How much this machine's clock is ahead of that of the database. */
  clockAheadMs: number
  /** Of runs, sessions and events, those that the statement of each commit reads whole. Undefined: there are no tables. */
  wholeReads: string[] | undefined
  /** Of the knowledge base. Undefined: there are no tables. */
  vectors: ExaminedVectors | undefined
  /** The oldest transaction, which keeps dead rows from being removed. */
  oldestTransactionSeconds: number
}

/** Fails with `unavailable` for a database that servers refuse, and with what the library throws. */
export function examineDatabase(options: DatabaseOptions): Promise<Examination> {
  return withDatabase(options, async (connection) => {
    await checkDatabase(connection)
    const status = await statusOf(connection, options.schema)
    const clockAheadMs = await readClock(connection)
    const [facts] = await connection.alone((sql) =>
      sql.all<{ extensions: string; used: number; allowed: number; oldest: number }>(
        `SELECT (SELECT string_agg(extname || ' ' || extversion, ', ' ORDER BY extname) FROM pg_extension) AS extensions,
           (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
           current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS allowed,
           ${oldestTransactionSeconds} AS oldest`,
      ),
    )
    return {
      status,
      extensions: facts?.extensions?.split(', ') ?? [],
      connections: { used: facts?.used ?? 0, allowed: facts?.allowed ?? 0 },
      clockAheadMs,
      wholeReads: status.schema.missing > 0 ? undefined : await findWholeReads(connection),
      vectors: status.schema.missing > 0 ? undefined : await connection.alone(examineVectors),
      oldestTransactionSeconds: facts?.oldest ?? 0,
    }
  })
}

async function readClock(connection: Connection): Promise<number> {
  const sentMs = Date.now()
  const [row] = await connection.alone((sql) =>
    sql.all<{ ms: number }>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms'),
  )
  return Math.round((sentMs + Date.now()) / 2 - (row?.ms ?? 0))
}

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  Plans?: PlanNode[]
}

const everything = Object.values(has).reduce((mask, bit) => mask | bit, 0)
const large = ['run', 'session', 'event']

/** In the plan that Postgres keeps for all groups of writes. */
export async function findWholeReads(connection: Connection): Promise<string[]> {
  const documents = documentsOf(everything)
  const types = ['int', ...documents.map(() => 'text')].join(', ')
  const values = ['0', ...documents.map(() => 'NULL')].join(', ')
  const name = 'agentserve_examined'
  const [row] = await inTransaction(connection, async (sql) => {
    await connection.exec(`PREPARE ${name} (${types}) AS ${hotStatement(everything)}`)
    await connection.exec('SET LOCAL plan_cache_mode = force_generic_plan')
    const rows = await sql.all<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (FORMAT JSON) EXECUTE ${name} (${values})`,
    )
    await connection.exec(`DEALLOCATE ${name}`)
    return rows
  })
  const found = new Set<string>()
  const visit = (node: PlanNode): void => {
    const { 'Node Type': type, 'Relation Name': table = '', Plans: below = [] } = node
    if (type === 'Seq Scan' && large.includes(table)) found.add(table)
    for (const one of below) visit(one)
  }
  if (row !== undefined) visit(row['QUERY PLAN'][0].Plan)
  return [...found].sort()
}

export interface Counted {
  counts: Record<string, number>
  /** One sentence each; empty when everything belongs to something. */
  problems: string[]
}

const counts: Record<string, string> = {
  sessions: 'SELECT count(*) AS n FROM session',
  runs: 'SELECT count(*) AS n FROM run',
  files: 'SELECT count(*) AS n FROM file',
}
const strays: Record<string, string> = {
  'runs have no session': `SELECT count(*) AS n FROM run LEFT JOIN session USING (session_id)
    WHERE session.session_id IS NULL`,
  'batches of events have no run': `SELECT count(*) AS n FROM event LEFT JOIN run USING (run_number)
    WHERE run.run_number IS NULL`,
  'files have no content': `SELECT count(*) AS n FROM file WHERE url IS NULL AND size > 0
    AND NOT EXISTS (SELECT 1 FROM file_content WHERE file_content.hash = file.hash)`,
}
const countMs = 30 * 60_000

/** Reads all rows as of one moment. */
export function countDatabase(options: DatabaseOptions): Promise<Counted> {
  return withDatabase(
    options,
    (connection) =>
      inTransaction(
        connection,
        async (sql) => {
          const read = async (text: string) => (await sql.all<{ n: number }>(text))[0]?.n ?? 0
          // Servers never read whole tables, so their connections have this off.
          await sql.run('SET LOCAL enable_seqscan = on')
          const counted: Counted = { counts: {}, problems: [] }
          for (const [name, text] of Object.entries(counts)) counted.counts[name] = await read(text)
          for (const [problem, text] of Object.entries(strays)) {
            const number = await read(text)
            if (number > 0) counted.problems.push(`${number} ${problem}`)
          }
          return counted
        },
        'ISOLATION LEVEL REPEATABLE READ READ ONLY',
      ),
    { statementMs: countMs },
  )
}
