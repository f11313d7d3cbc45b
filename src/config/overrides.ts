import type { z } from 'zod'
import { check } from '../schema/check.ts'
import { is } from '../schema/field.ts'
import type { Environment } from './environment.ts'
import { isHost } from './settings/address.ts'
import { authKeys, type ResolvedKey } from './settings/keys.ts'
import { databaseUrl } from './settings/postgres.ts'
import { stopTime } from './settings/server.ts'

/** Command line flags: they override the environment, which overrides the file. */
export interface ConfigFlags {
  data?: string | undefined
  host?: string | undefined
  port?: number | undefined
  allowHosts?: string[] | undefined
  allowUnauthenticated?: boolean | undefined
  /** A time, as in `server.stopWithin`. */
  stopWithin?: string | undefined
}

export interface Overrides extends Omit<ConfigFlags, 'stopWithin'> {
  /** In milliseconds. */
  stopWithin?: number | undefined
  keys?: ResolvedKey[] | undefined
  debug?: boolean | undefined
  /** The address of the database, where the storage is one. */
  databaseUrl?: string | undefined
}

const port = is<string | number>('a port from 0 to 65535', isPort).transform(Number)
const host = is<string>(
  'a host name or an IP address',
  (value) => typeof value === 'string' && isHost(withoutBrackets(value)),
).transform(withoutBrackets)
const flag = is<string>('true, false, 1 or 0', (value) => /^(?:true|false|1|0)$/i.test(String(value))).transform(
  (value) => /^(?:true|1)$/i.test(value),
)

/** An empty variable counts as unset. */
export function readOverrides(
  flags: ConfigFlags,
  environment: Environment,
  complain: (path: string, message: string) => void,
): Overrides {
  const variable = (name: string) => environment[`AGENTSERVE_${name}`]?.trim() || undefined
  const read = <S extends z.ZodType>(schema: S, value: unknown, name: string) =>
    value === undefined ? undefined : check(schema, value, name, complain)
  const inEnvironment = <S extends z.ZodType>(schema: S, name: string) =>
    read(schema, variable(name), `AGENTSERVE_${name}`)
  return {
    data: flags.data ?? variable('DATA'),
    port: inEnvironment(port, 'PORT'),
    host: flags.host === undefined ? inEnvironment(host, 'HOST') : read(host, flags.host, '--host'),
    ...(flags.port === undefined ? {} : { port: read(port, flags.port, '--port') }),
    allowHosts: flags.allowHosts ?? words(variable('ALLOW_HOSTS')),
    allowUnauthenticated: flags.allowUnauthenticated ?? inEnvironment(flag, 'ALLOW_UNAUTHENTICATED'),
    keys: read(authKeys, words(variable('API_KEYS')), 'AGENTSERVE_API_KEYS'),
    stopWithin:
      flags.stopWithin === undefined
        ? inEnvironment(stopTime(), 'STOP_WITHIN')
        : read(stopTime(), flags.stopWithin, '--stop-within'),
    debug: inEnvironment(flag, 'DEBUG'),
    databaseUrl: inEnvironment(databaseUrl(), 'DATABASE_URL'),
  }
}

function isPort(value: unknown): boolean {
  return /^\d{1,5}$/.test(String(value)) && Number(value) <= 65_535
}

function withoutBrackets(text: string): string {
  return text.replace(/^\[(.*)\]$/, '$1')
}

function words(text: string | undefined): string[] | undefined {
  return text?.split(',').flatMap((word) => word.trim() || [])
}
