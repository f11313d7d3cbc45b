import type { ResolvedConfig } from '../../../config/types.ts'
import { messageOf } from '../../../core/error.ts'
import { shownBytes } from '../../../core/limits.ts'
import { databaseOf, databaseOfKnowledge } from '../../../server/database/database.ts'
import { countDatabase, type Examination, examineDatabase } from '../../../server/storage.ts'
import { count } from '../../terminal/count.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

const silentSeconds = 15
const littleConnections = 10
const muchSkewMs = 5_000
const longTransactionSeconds = 15 * 60

const unused = warning(
  'database',
  'AGENTSERVE_DATABASE_URL is set, but the sessions are not in a database',
  "set server.storage to { type: 'postgres' }, or unset the variable",
)

/** The database of the sessions, or that of the knowledge. `whole` counts its rows and looks for strays. */
export async function* checkDatabase(config: ResolvedConfig, whole: boolean): AsyncGenerator<Finding> {
  const { sessionStorage, vectorDb } = config.server
  const database = databaseOf(sessionStorage) ?? databaseOfKnowledge(vectorDb)
  if (database === undefined) {
    if (process.env.AGENTSERVE_DATABASE_URL) yield unused
    return
  }
  try {
    if (whole) yield await countRows(config, database.place)
    else yield* describe(await examineDatabase(config), database.place)
  } catch (error) {
    yield wrong('database', messageOf(error), 'follow the message')
  }
}

async function countRows(config: ResolvedConfig, place: string): Promise<Finding> {
  const { counts, problems } = await countDatabase(config)
  const counted = Object.entries(counts).map(([name, number]) => `${number} ${name}`)
  const message = `${place}: ${counted.join(', ')}`
  if (problems.length === 0) return ok('database', `${message}; nothing is astray`)
  const fix = 'restore a dump; or export all sessions, and import them into an empty schema'
  return wrong('database', `${message}; ${problems.join('; ')}`, fix)
}

function* describe(found: Examination, place: string): Generator<Finding> {
  const { status, extensions, connections, clockAheadMs, wholeReads, vectors, oldestTransactionSeconds } = found
  yield ok(
    'database',
    `Postgres ${status.version} at ${place}, as role ${status.role}; extensions: ${extensions.join(', ')}`,
  )
  yield tables(status)
  if (wholeReads !== undefined) yield plan(wholeReads, status.schema.name)
  if (vectors !== undefined && vectors.lists.length > 0) yield whereVectorsAre(vectors)
  yield servers(status)
  yield free(connections)
  const ahead = `this machine's clock is ${Math.abs(clockAheadMs) / 1000} s ${clockAheadMs < 0 ? 'behind' : 'ahead of'} that of the database`
  if (Math.abs(clockAheadMs) > muchSkewMs)
    yield warning('clock', `${ahead}: lists are sorted by the clocks of the servers`, 'set both by NTP')
  else yield ok('clock', ahead)
  if (oldestTransactionSeconds > longTransactionSeconds) {
    const message = `a transaction has been open for ${Math.round(oldestTransactionSeconds / 60)} minutes, so dead rows are not removed`
    yield warning('transactions', message, 'find it in pg_stat_activity and end it')
  }
}

/** Who searches the vectors. The names of their lists are the database's own, so they are only counted. */
export function whereVectorsAre({ extension, lists }: NonNullable<Examination['vectors']>): Finding {
  if ('reason' in extension) return ok('vectors', `${extension.reason}: each server searches a copy of the vectors`)
  const kept = lists.filter(({ form }) => form === 'bytea').length
  const indexed = lists.filter(({ hasIndex }) => hasIndex).length
  const pgvector = `pgvector ${extension.version}`
  if (kept === 0) return ok('vectors', `${pgvector} searches ${count(lists.length, 'list')}, ${indexed} with an index`)
  const message = `${pgvector} is there, but each server searches a copy of ${kept} of ${count(lists.length, 'list')}, written before it was`
  return warning('vectors', message, 'run agentserve knowledge reindex')
}

function tables({ schema, tables }: Examination['status']): Finding {
  const { name, applied, known, missing, waiting, strange } = schema
  const size = shownBytes(tables.reduce((sum, { bytes }) => sum + bytes, 0))
  if (strange !== null)
    return wrong('tables', `step ${strange} of schema ${name} is of a newer version`, 'install a newer agentserve')
  if (missing === 0) {
    const later = waiting.length === 0 ? '' : `; agentserve storage upgrade applies step ${waiting.join(', ')}`
    return ok('tables', `schema ${name}, step ${applied} of ${known}, ${size}${later}`)
  }
  const message = `schema ${name} has ${applied === null ? 'no tables yet' : `only ${known - missing} of ${known} steps`}`
  return warning('tables', message, 'start a server, or run agentserve storage prepare')
}

function plan(wholeReads: readonly string[], schema: string): Finding {
  if (wholeReads.length === 0) return ok('plan', 'writes of runs find their rows by indexes')
  const message = `each commit reads all of ${wholeReads.join(', ')}`
  const fix = `run ANALYZE ${wholeReads.map((table) => `${schema}.${table}`).join(', ')}; if that does not help, please report it`
  return warning('plan', message, fix)
}

function servers({ instances }: Examination['status']): Finding {
  const alive = instances.filter(({ state, role }) => state === 'alive' && role === 'server')
  const count = `${alive.length} ${alive.length === 1 ? 'server shares' : 'servers share'} it`
  const oldest = Math.max(0, ...alive.map(({ beat_age_seconds: age }) => age))
  if (alive.length === 0) return ok('servers', 'no server uses it')
  const message = `${count}; the oldest sign of life is ${oldest.toFixed(1)} s old`
  if (oldest < silentSeconds) return ok('servers', message)
  return warning('servers', message, 'agentserve storage status shows which; a server that runs takes over from it')
}

function free({ used, allowed }: Examination['connections']): Finding {
  const message = `${used} of ${allowed} connections are taken`
  if (allowed - used >= littleConnections) return ok('connections', message)
  return warning('connections', message, 'raise max_connections, or put a pooler between and set connections to pooled')
}
