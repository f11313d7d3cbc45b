import type { ConnectionOptions } from 'node:tls'
import type { ClientConfig } from 'pg'
import type { Logger } from '../../core/logger.ts'
import { type ConnectionMode, typesOf } from './connection.ts'
import { CarefulSocket } from './socket.ts'

export interface PostgresOptions {
  /** A secret. Its own TLS settings are ignored: see `tls`. */
  url: string
  /** For LISTEN; default: `url`. A pooler in transaction mode can't pass it on. */
  listenUrl?: string | undefined
  /** Undefined: no TLS. */
  tls?: ConnectionOptions | undefined
  schema: string
  connections: ConnectionMode
  logger: Logger
}

/** Within this a database answers to who connects, or can't be reached. */
export const connectMs = 5_000

/** How long a statement may take, in milliseconds; undefined: no limit. */
export interface Limits {
  statementMs?: number | undefined
  /** How long it may wait for a lock; default 10 s. */
  lockMs?: number | undefined
  /** Its statements only look rows up by keys. */
  isLookup?: boolean | undefined
  /** Its statements find the nearest vectors. */
  isNearest?: boolean | undefined
  /** Memory for building an index, in MB; default: as the database has it. */
  maintenanceMb?: number | undefined
}

/**
 * The database keeps the plan of a statement, also when it was made while the tables were small and a look at all rows was the
 * best: that would last until its next ANALYZE, over any number of new rows.
 */
const always = { enable_seqscan: 'off' }
const lookups = { enable_bitmapscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' }

/**
 * Without an index all vectors are compared, which is fastest in the order of the table. An index of pgvector finds 99 of 100 of
 * the nearest with this `ef_search`, and 94 with 100. With a condition on the rows it must continue until enough of them pass,
 * at most to `max_scan_tuples`. A
 * database without pgvector keeps the settings and does nothing with them.
 */
const nearest = {
  enable_seqscan: 'on',
  'hnsw.ef_search': '300',
  'hnsw.iterative_scan': 'strict_order',
  'hnsw.max_scan_tuples': '40000',
  'hnsw.scan_mem_multiplier': '4',
}

export const settingsOf = (
  schema: string,
  { statementMs, lockMs = 10_000, isLookup, isNearest, maintenanceMb }: Limits,
): Record<string, string> => ({
  ...always,
  ...(isLookup && lookups),
  ...(isNearest && nearest),
  ...(maintenanceMb !== undefined && { maintenance_work_mem: `${maintenanceMb}MB` }),
  search_path: `"${schema}"`,
  // The compiler costs more than the statements take.
  jit: 'off',
  TimeZone: 'UTC',
  lock_timeout: `${lockMs}`,
  idle_in_transaction_session_timeout: '10s',
  statement_timeout: `${statementMs ?? 0}`,
})

/** For `options` of a connection's start. */
function toStartOptions(schema: string, limits: Limits): string {
  return Object.entries(settingsOf(schema, limits))
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, '\\$&')}`)
    .join(' ')
}

/** For the transactions of a pooled connection. */
export function toPrelude(schema: string, limits: Limits): string {
  return Object.entries(settingsOf(schema, limits))
    .map(([name, value]) => `SET LOCAL ${name} = ${name === 'search_path' ? value : `'${value}'`}`)
    .join('; ')
}

/** `listens`: by the address for LISTEN. */
export async function configOf(
  { url, listenUrl, tls, schema }: PostgresOptions,
  purpose: string,
  limits: Limits,
  mode: ConnectionMode,
  listens = false,
): Promise<ClientConfig> {
  return {
    connectionString: withoutTls(listens ? (listenUrl ?? url) : url),
    ssl: tls ?? false,
    stream: () => new CarefulSocket(),
    types: await typesOf(),
    application_name: `agentserve ${purpose}`,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    ...(mode === 'direct' && { options: toStartOptions(schema, limits) }),
  }
}

/** The library would let them win over `ssl`. */
function withoutTls(url: string): string {
  const parsed = new URL(url)
  for (const name of [...parsed.searchParams.keys()]) if (name.startsWith('ssl')) parsed.searchParams.delete(name)
  return parsed.toString()
}
