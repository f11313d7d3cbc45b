import { isLoopback } from './address.ts'

/** A checked address of a database. No message about it shows any part of it but host, port and database. */
export interface DatabaseUrl {
  /** Without parameters that `tls` decides. A secret: it may have the password. */
  url: string
  host: string
  port: number
  database: string
  /** What `sslmode` says; undefined when it leaves the choice. */
  tls: 'off' | 'on' | 'verified' | 'unverified' | undefined
}

const databaseUrlWords = "an address like 'postgres://user:password@host:5432/database'"

const modes: Readonly<Record<string, DatabaseUrl['tls']>> = {
  disable: 'off',
  allow: undefined,
  prefer: undefined,
  require: 'on',
  'verify-ca': 'verified',
  'verify-full': 'verified',
  'no-verify': 'unverified',
}
const passedOn = new Set(['application_name'])
/** Decided by `tls`. A verified certificate leaves nothing for `channel_binding` to add. */
const dropped = new Set(['sslmode', 'channel_binding'])
/** Other parameters that people have in addresses, each with the way out. */
const misplaced: Readonly<Record<string, string>> = {
  ssl: 'set `tls` instead',
  sslrootcert: 'set `tls: { ca }` instead',
  sslcert: 'set `tls: { cert, key }` instead',
  sslkey: 'set `tls: { cert, key }` instead',
  uselibpqcompat: 'set `tls` instead',
  options: 'set them with ALTER ROLE … SET instead',
  schema: 'set `schema` beside it instead',
  pgbouncer: "set `connections: 'pooled'` instead",
  user: 'write it before the @',
  password: 'write it before the @',
  host: 'write it after the @',
  port: 'write it after the host',
  dbname: 'write it as the path',
}

/** What is wrong with a text as an address of a database, without showing it. */
export function problemOfDatabaseUrl(value: unknown): string | undefined {
  const read = typeof value === 'string' ? readDatabaseUrl(value) : `must be ${databaseUrlWords}`
  return typeof read === 'string' ? read : undefined
}

/** Throws for a text that has not been checked. */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const read = readDatabaseUrl(text)
  if (typeof read === 'string') throw new TypeError(`The address of the database ${read}.`)
  return read
}

/** Whether only this machine can be meant: loopback, or a path of a socket. */
export function isLocal({ host }: DatabaseUrl): boolean {
  return host.startsWith('/') || isLoopback(host)
}

function readDatabaseUrl(text: string): DatabaseUrl | string {
  const url = URL.parse(text.trim())
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol) || url.host === '') return `must be ${databaseUrlWords}`
  const { hostname, port, pathname, hash } = url
  // A character of the password that is not encoded: what follows it would be shown as the name of the database.
  if (hash !== '' || pathname.includes('@') || url.search.includes('@'))
    return `must be ${databaseUrlWords}, with special characters of the password percent-encoded`
  const [host, database] = [decode(hostname.replace(/^\[(.*)\]$/, '$1')), decode(pathname.slice(1))]
  if (host === undefined || database === undefined || decode(url.username + url.password) === undefined)
    return `must be ${databaseUrlWords}, with a percent sign of the password written as %25`
  if (host.includes(',')) return 'names several hosts: name one, such as a proxy in front of them'
  if (database.includes('/')) return 'has a database with a slash: write / in a name as %2F'
  const problem = problemOfParameters(url.searchParams)
  if (problem !== undefined) return problem
  const tls = modes[url.searchParams.get('sslmode') ?? 'prefer']
  for (const name of dropped) url.searchParams.delete(name)
  return { url: url.href, host, port: Number(port || 5432), database, tls }
}

function problemOfParameters(parameters: URLSearchParams): string | undefined {
  for (const name of new Set(parameters.keys())) {
    if (parameters.getAll(name).length > 1) return 'has a parameter twice'
    if (passedOn.has(name) || dropped.has(name)) continue
    const way = Object.hasOwn(misplaced, name) ? misplaced[name] : undefined
    if (way !== undefined) return `has the parameter '${name}': ${way}`
    return `has a parameter that is not supported; those that are: ${[...passedOn, 'sslmode'].join(', ')}`
  }
  const mode = parameters.get('sslmode')
  if (mode === null || Object.hasOwn(modes, mode)) return undefined
  return `has an sslmode that is not one of ${Object.keys(modes).join(', ')}`
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
