import { AppError } from '../../../../core/error.ts'
import type { Connection } from '../../../postgres/connection.ts'
import { usePooled } from '../../../postgres/refusal.ts'

const oldestVersion = 150_000

/** Throws `unavailable` for a database that can't be used, and an error of the database's own kind for a standby. */
export async function checkDatabase(connection: Connection): Promise<void> {
  const [row] = await connection.all<{
    number: string
    version: string
    encoding: string
    sync: string
    reads: string
    scans: string
  }>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
       current_setting('server_encoding') AS encoding, current_setting('synchronous_commit') AS sync,
       current_setting('transaction_read_only') AS reads, current_setting('enable_seqscan') AS scans`,
  )
  // Without its schema, a connection would make the tables in another one.
  if (connection.mode === 'direct' && row?.scans !== 'off')
    throw unusable(`The settings of a connection don't reach the database, as behind a pooler. ${usePooled}.`)
  if (Number(row?.number) < oldestVersion)
    throw unusable(`Postgres ${row?.version} is too old. Use version 15 or newer.`)
  // As a statement that writes would be refused. A failover may be under way.
  if (row?.reads === 'on') throw Object.assign(new Error('The database takes no writes.'), { code: '25006' })
  if (row?.encoding !== 'UTF8') throw unusable(`The database has the encoding ${row?.encoding}. Use one with UTF8.`)
  if (row.sync === 'off' || row.sync === 'local') {
    throw unusable(
      `synchronous_commit is '${row.sync}' for this role, so acknowledged runs could be lost. Set it to 'on'.`,
    )
  }
}

function unusable(message: string): AppError {
  return new AppError('unavailable', message)
}
