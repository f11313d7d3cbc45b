import { z } from 'zod'
import { duration, integer, match, mustBe, oneOf, settings, sound } from '../../schema/field.ts'
import { type DatabaseUrl, isLocal, parseDatabaseUrl, problemOfDatabaseUrl } from './database-url.ts'
import { readTls, type TlsOptions, tls } from './tls.ts'

export const databaseUrl = () => sound<string>(problemOfDatabaseUrl)

const longestSilenceMs = 5 * 60_000

const cluster = settings({
  /** Silence after which the other servers take this one for dead, and its runs over. */
  deadAfter: duration(5_000, "a time from '5s' to '5m'", longestSilenceMs).prefault('15s'),
  /** How many milliseconds events of a run that another server reads may wait before they are recorded. */
  flushMs: integer(5, 50).default(15),
})

export interface ClusterTimes {
  deadAfterMs: number
  flushMs: number
}

/** Of servers on a store that was passed in. */
export function usualClusterTimes(): ClusterTimes {
  return toTimes(cluster.parse({}))
}

function toTimes({ deadAfter: deadAfterMs, flushMs }: z.output<typeof cluster>): ClusterTimes {
  return { deadAfterMs, flushMs }
}

/** Several servers may share the database: each has all sessions, runs and queues. */
export const postgresStorage = settings({
  type: z.literal('postgres', mustBe("'postgres' (server.sessionStorage has the others)")),
  /** `postgres://user:password@host:5432/database`. AGENTSERVE_DATABASE_URL overrides it for the commands. */
  url: databaseUrl().optional(),
  /** Default: as `sslmode` in the address says, else off. Certificates are verified unless `insecure`. */
  tls: tls.optional(),
  /** The schema that has the tables. */
  schema: match(
    "1 to 63 of a-z 0-9 _, beginning with a letter or '_', and without 'pg_' at its beginning",
    /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/,
  ).default('agentserve'),
  /** The address for LISTEN, if `url` is that of a pooler in transaction mode. */
  listenUrl: databaseUrl().optional(),
  /** `pooled`: a pooler in transaction mode is between. */
  connections: oneOf(['direct', 'pooled']).default('direct'),
  /** May differ between servers: each says how long its own silence may be. */
  cluster: cluster.prefault({}),
})
export type CheckedPostgres = z.output<typeof postgresStorage>

export interface PostgresStorage {
  type: 'postgres'
  /** A secret, as `listenUrl`. */
  url: string
  tls: TlsOptions | undefined
  schema: string
  listenUrl: string | undefined
  connections: 'direct' | 'pooled'
  cluster: ClusterTimes
  /** For people: host, port, database and schema. */
  place: string
  /** Other machines may read what is sent, and nobody has said that this is right. */
  isExposed: boolean
}

/** Decides the fields that depend on each other. Undefined: complained. */
export function resolvePostgres(
  given: CheckedPostgres,
  { url = given.url, root }: { url: string | undefined; root: string },
  complain: (field: string, message: string) => void,
): PostgresStorage | undefined {
  if (url === undefined) {
    complain('url', 'is missing: set it, or AGENTSERVE_DATABASE_URL for the commands')
    return undefined
  }
  const main = parseDatabaseUrl(url)
  const other = given.listenUrl === undefined ? undefined : parseDatabaseUrl(given.listenUrl)
  const problem =
    contradiction('url', main, given.tls) ?? (other && contradiction('listenUrl', other, given.tls ?? !isPlain(main)))
  if (problem !== undefined) {
    complain('tls', problem)
    return undefined
  }
  const usesTls = given.tls === undefined ? !isPlain(main) : given.tls !== false
  const encryption = usesTls
    ? readTls(given.tls, root, (field, message) => complain(`tls${field}`, message))
    : undefined
  if (usesTls && encryption === undefined) return undefined
  const { host, port, database } = main
  return {
    type: 'postgres',
    url: main.url,
    tls: encryption,
    schema: given.schema,
    listenUrl: other?.url,
    connections: given.connections,
    cluster: toTimes(given.cluster),
    place: `${host.includes(':') ? `[${host}]` : host}:${port}${database && `/${database}`}, schema ${given.schema}`,
    isExposed:
      given.tls === undefined && main.tls === undefined && !(isLocal(main) && (other === undefined || isLocal(other))),
  }
}

function isPlain({ tls: mode }: DatabaseUrl): boolean {
  return mode === undefined || mode === 'off'
}

/** What the address says against `tls`, in words that follow it. */
function contradiction(name: string, { tls: mode }: DatabaseUrl, given: CheckedPostgres['tls']): string | undefined {
  const insecure = typeof given === 'object' && given.insecure
  const says = (value: string) => `contradicts sslmode in \`${name}\`, which ${value}: leave one of them out`
  if (mode === 'off' && given !== undefined && given !== false) return says('turns TLS off')
  if (mode !== undefined && mode !== 'off' && given === false) return says('asks for TLS')
  if (mode === 'verified' && insecure) return says('asks for a verified certificate')
  if (mode === 'unverified' && !insecure)
    return `must be { insecure: true } if any certificate is right, as no-verify in \`${name}\` says; else take sslmode out`
  return undefined
}
