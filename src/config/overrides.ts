import type { Environment } from './environment.ts'
import { isHost } from './settings/address.ts'
import { type Check, type Complain, is, listOf } from './settings/check.ts'
import { apiKey } from './settings/keys.ts'

/** What the command line says; it wins over the environment, which wins over the file. */
export interface ConfigFlags {
  data?: string | undefined
  host?: string | undefined
  port?: number | undefined
  allowHosts?: string[] | undefined
  allowUnauthenticated?: boolean | undefined
}

/** Flags and environment in one. */
export interface Overrides extends ConfigFlags {
  keys?: string[] | undefined
  debug?: boolean | undefined
}

const port: Check = is('a port from 0 to 65535', (value) => isPort(value))
const host: Check = is(
  'a host name or an IP address',
  (value) => typeof value === 'string' && isHost(withoutBrackets(value)),
)
const keys: Check = (value, name, complain) => listOf(apiKey)(words(String(value)), name, complain)
const flag: Check = is('true, false, 1 or 0', (value) => /^(?:true|false|1|0)$/i.test(String(value)))

/** An empty variable is one that is not set. */
export function readOverrides(flags: ConfigFlags, environment: Environment, complain: Complain): Overrides {
  const variable = (name: string, check?: Check) => {
    const value = environment[`AGENTSERVE_${name}`]?.trim()
    if (value === undefined || value === '') return undefined
    let sound = true
    check?.(value, `AGENTSERVE_${name}`, (key, message) => {
      sound = false
      complain(key, message)
    })
    return sound ? value : undefined
  }
  const portText = variable('PORT', port)
  const hostText = flags.host ?? variable('HOST', host)
  if (flags.host !== undefined) host(flags.host, '--host', complain)
  if (flags.port !== undefined) port(flags.port, '--port', complain)
  return {
    data: flags.data ?? variable('DATA'),
    host: hostText === undefined ? undefined : withoutBrackets(hostText),
    port: flags.port ?? (portText === undefined ? undefined : Number(portText)),
    allowHosts: flags.allowHosts ?? words(variable('ALLOW_HOSTS')),
    allowUnauthenticated: flags.allowUnauthenticated ?? truth(variable('ALLOW_UNAUTHENTICATED', flag)),
    keys: words(variable('API_KEYS', keys)),
    debug: truth(variable('DEBUG', flag)),
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

function truth(text: string | undefined): boolean | undefined {
  return text === undefined ? undefined : /^(?:true|1)$/i.test(text)
}
