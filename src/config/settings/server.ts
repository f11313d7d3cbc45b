import { z } from 'zod'
import { parseAddressRanges } from '../../core/access/address-range.ts'
import { collectionPattern, collectionWords } from '../../core/knowledge/limits.ts'
import type { Logger } from '../../core/logger.ts'
import type { SessionStore } from '../../core/store.ts'
import type { Summarizer } from '../../core/summary.ts'
import {
  choose,
  count,
  duration,
  flag,
  is,
  isObject,
  list,
  match,
  mustBe,
  oneOf,
  settings,
  text,
} from '../../schema/field.ts'
import { type Address, parseAddress } from './address.ts'
import { auditSettings } from './audit.ts'
import { problemOfDatabaseUrl } from './database-url.ts'
import { jwtSettings } from './jwt.ts'
import { authKeys } from './keys.ts'
import { limitSettings } from './limits.ts'
import { path } from './path.ts'
import { postgresStorage } from './postgres.ts'
import { findClashes, mcpSettings, openaiSettings } from './protocols.ts'
import { pushSettings } from './push.ts'
import { size } from './size.ts'
import { studioSettings } from './studio.ts'
import { telemetrySettings } from './telemetry.ts'

/** Node's timers fire at once above this. */
const longestTimerMs = 2 ** 31 - 1

/** The specification's name for a `Summarizer` with a time limit. */
export interface SummaryManagerLike {
  readonly summarizer: Summarizer
  readonly timeoutMs: number
}

export const stopTime = () =>
  duration(0, 'a time of at most one day: milliseconds, or a number with ms, s, m or h', 86_400_000)

const name = () => match('1 to 64 of A-Z a-z 0-9 _ -', /^[A-Za-z0-9_-]{1,64}$/)
export const collection = () => match(collectionWords, collectionPattern)

const address = is<string>(
  "'host:port', ':port' or '[v6]:port'",
  (value) => typeof value === 'string' && parseAddress(value) !== undefined,
).transform((value) => parseAddress(value) as Address)

const sqliteStorage = settings({
  type: z.literal('sqlite', mustBe("'sqlite'")),
  /** The file; `:memory:` is refused. */
  path: match("the path of a file (for memory write 'memory')", /^(?!.*:memory:)(?=.*\S)/s),
  /** Default `FULL`: acknowledged writes survive a power cut. */
  synchronous: oneOf(['FULL', 'NORMAL']).default('FULL'),
})
export type SqliteStorage = z.output<typeof sqliteStorage>

const otherStorage = is<'memory' | SessionStore>(
  "'memory', { type: 'sqlite', path }, { type: 'postgres', url }, or an object that implements the store",
  (value) => value === 'memory' || hasMethods(value, 'open', 'close', 'startRun', 'finishRun'),
)
type Storage = z.ZodType<
  'memory' | SessionStore | SqliteStorage | z.output<typeof postgresStorage>,
  'memory' | SessionStore | z.input<typeof sqliteStorage> | z.input<typeof postgresStorage>
>
const sessionStorage = choose((value): Storage => {
  if (isObject(value) && value.type === 'sqlite') return sqliteStorage as unknown as Storage
  return (isObject(value) && value.type === 'postgres' ? postgresStorage : otherStorage) as unknown as Storage
})

/** Without the trailing slash. */
const publicUrl = is<string>("an http(s) address such as 'https://agents.example.org'", isPublicUrl).transform(
  (given) => given.replace(/\/+$/, ''),
)

const origins = list(is<string>("'*' or an origin such as 'https://example.org'", isOrigin)).refine(
  (given) => !given.includes('*') || given.length === 1,
  { error: "has '*' beside others; write '*' alone, or origins" },
)

const proxy = is<string>(
  "the address of a proxy, a range like '10.0.0.0/8', or 'loopback'",
  (value) => typeof value === 'string' && parseAddressRanges(value).length > 0,
)
type Proxies = z.ZodType<readonly string[], false | string | string[]>
const proxies = choose((value): Proxies => {
  if (value === false) return z.literal(false).transform(() => [])
  return Array.isArray(value) ? list(proxy) : proxy.transform((one) => [one])
})

/** Of models that transformers.js runs. */
export const numberFormats = ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4'] as const

const serverFields = settings({
  address: address.optional(),
  prefix: path().prefault('/api/v1'),
  /** Short for `sessionStorage` and `vectorDb`, both of this type. */
  storage: postgresStorage.optional(),
  sessionStorage: sessionStorage.optional(),
  logger: is<Logger>('an object with the methods debug, info, warn and error', (value) =>
    hasMethods(value, 'debug', 'info', 'warn', 'error'),
  ).optional(),
  debug: flag().default(false),
  allowOrigins: origins.default([]),
  allowMethods: list(match('an HTTP method in capitals', /^[A-Z]+$/)).optional(),
  allowHeaders: list(match('a header name', /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/)).optional(),
  allowHosts: list(text()).default([]),
  requestTimeout: duration(
    1,
    'a time from 1 ms to 24 days: milliseconds, or a number with ms, s, m, h or d',
    longestTimerMs,
  ).optional(),
  /** How long runs may take to end once the server stops; those still under way are then cancelled (`shutdown`). */
  stopWithin: stopTime().prefault('10s'),
  maxRequestSize: size().prefault('10MB'),
  healthPath: path()
    .transform((given) => given || '/')
    .prefault('/health'),
  vectorDb: settings({
    type: oneOf(['lancedb', 'memory', 'postgres']).default('lancedb'),
    /** For LanceDB the folder; for Postgres the address, unless it is that of the sessions. */
    baseUrl: text().optional(),
    collectionName: collection().optional(),
    database: name().optional(),
    tenant: name().optional(),
  }).optional(),
  embedding: settings({
    provider: oneOf(['auto', 'static', 'transformers', 'lexical', 'openai']).default('auto'),
    apiKey: text(undefined, true).optional(),
    model: text().optional(),
    baseUrl: text().optional(),
    /** Number format of a sentence model; default: the cached one, or `q8` for a download. */
    dtype: oneOf(numberFormats).optional(),
  }).prefault({}),
  knowledgeApi: settings({
    search: flag().default(true),
    config: flag().default(true),
    content: flag().default(true),
    documents: flag().default(true),
  }).prefault({}),
  summaryManager: is<SummaryManagerLike>(
    'new SummaryManager({ model, timeout })',
    (value) => isObject(value) && hasMethods(value.summarizer, 'summarize') && typeof value.timeoutMs === 'number',
  ).optional(),
  a2a: settings({
    prefix: path().prefault('/api/v1/a2a'),
    /** How clients reach the server; agent cards have absolute addresses. Default: as the request's Host says. */
    publicUrl: publicUrl.optional(),
    /** Whether agent cards can be read without a key. */
    publicCard: flag().default(false),
    /** The agent whose card is at `/.well-known/agent-card.json`. Default: the only one. */
    defaultAgent: text().optional(),
    /** Push notifications of tasks, to addresses that callers give. `{}` turns them on. Default: none. */
    push: pushSettings.optional(),
  }).prefault({}),
  /** Whether `useChat` of the AI SDK can talk to the agents: `{prefix}/chat/{agent}`. */
  chat: flag().default(true),
  /** Whether clients of AG-UI, such as CopilotKit, can talk to the agents: `{prefix}/ag-ui/{agent}`. */
  agUi: flag().default(true),
  /** The OpenAI-compatible routes, or `false`. */
  openai: openaiSettings.prefault({}),
  /** The MCP server, or `false`. */
  mcp: mcpSettings.prefault({}),
  auth: settings({ keys: authKeys.prefault([]), jwt: jwtSettings.optional() }).prefault({}),
  /** Whether `instructions` of a run follow the agent's own. Default: `ignore` for keys of a user, else `append`. */
  clientInstructions: oneOf(['append', 'ignore']).optional(),
  limits: limitSettings.prefault({}),
  files: settings({
    /** Whether to fetch the file at an address that the model's provider does not accept. */
    fetchUrls: flag().default(true),
  }).prefault({}),
  /** Allows an address that is not loopback without `auth`. */
  allowUnauthenticated: flag().default(false),
  /** Addresses and ranges (`'10.0.0.0/8'`, `'loopback'`) whose `X-Forwarded-For` is trusted. Default: none. */
  trustProxy: proxies.prefault(false),
  /** The page that shows sessions and runs, or `false`. */
  studio: studioSettings.prefault({}),
  /** Spans of runs for an OpenTelemetry collector, or `false`. */
  telemetry: telemetrySettings.prefault({}),
  /** What was done, by whom and when, or `false`. */
  audit: auditSettings.prefault({}),
  retention: settings({ maxAge: duration(0).optional(), maxSessions: count().optional() }).prefault({}),
}).superRefine((server, context) => {
  const { storage, sessionStorage, vectorDb } = server
  if (storage !== undefined && sessionStorage !== undefined) {
    const message = 'says where sessions are, and so does server.sessionStorage: leave one of them out'
    context.addIssue({ code: 'custom', path: ['storage'], message })
  }
  if (storage !== undefined && vectorDb !== undefined) {
    const message =
      'says where knowledge is, and so does server.vectorDb: leave one of them out. ' +
      'server.sessionStorage says only where sessions are'
    context.addIssue({ code: 'custom', path: ['storage'], message })
  }
  const address = vectorDb?.type === 'postgres' ? vectorDb.baseUrl : undefined
  const problem = address === undefined ? undefined : problemOfDatabaseUrl(address)
  if (problem !== undefined) context.addIssue({ code: 'custom', path: ['vectorDb', 'baseUrl'], message: problem })
  for (const { path, message } of findClashes(server)) context.addIssue({ code: 'custom', path, message })
})

export interface ServerConfig extends z.input<typeof serverFields> {}
export interface CheckedServer extends z.output<typeof serverFields> {}
export const serverSettings: z.ZodType<CheckedServer, ServerConfig> = serverFields

function hasMethods(value: unknown, ...names: string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  return names.every((method) => typeof Reflect.get(value, method) === 'function')
}

function isPublicUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, username, password, search, hash } = new URL(value)
  return /^https?:$/.test(protocol) && username + password + search + hash === '' && !/[?#\s]/.test(value)
}

function isOrigin(value: unknown): boolean {
  if (value === '*') return true
  return typeof value === 'string' && URL.canParse(value) && new URL(value).origin === value.toLowerCase()
}
