import { parseAddressRanges } from '../../core/access/address-range.ts'
import { parseDuration } from '../../core/duration.ts'
import { problemOfModel } from '../../core/model.ts'
import { parseAddress } from './address.ts'
import { type Check, fields, integer, is, isPlain, listOf, oneOf, show } from './check.ts'
import { authKeys } from './keys.ts'
import { limitSettings } from './limits.ts'
import { parseSize } from './size.ts'

/** Above it Node's timers would fire at once. */
const longestTimerMs = 2 ** 31 - 1

const flag = is('true or false', (value) => typeof value === 'boolean')
const text = is('a text that is not empty', (value) => typeof value === 'string' && value.trim() !== '')
const secret = is('a text that is not empty', (value) => typeof value === 'string' && value.trim() !== '', true)
const path = is("a path that begins with '/'", (value) => typeof value === 'string' && /^\/[^\s?#]*$/.test(value))
const name = is(
  '1 to 64 of A-Z a-z 0-9 _ -',
  (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value),
)
const collection = is(
  '1 to 128 of A-Z a-z 0-9 . _ -, beginning with a letter or digit',
  (value) => typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(value),
)
const method = is('an HTTP method in capitals', (value) => typeof value === 'string' && /^[A-Z]+$/.test(value))
const header = is('a header name', (value) => typeof value === 'string' && /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(value))
const origin = is("'*' or an origin such as 'https://example.org'", isOrigin)
const count = integer(1, Number.MAX_SAFE_INTEGER)
const duration = is('milliseconds, or a number with ms, s, m, h or d', (value) => parseDuration(value) !== undefined)
const timeLimit = is('1 ms to 24 days: milliseconds, or a number with ms, s, m, h or d', (value) => {
  const ms = parseDuration(value)
  return ms !== undefined && ms >= 1 && ms <= longestTimerMs
})
const size = is('bytes above 0, or a number with KB, MB or GB', (value) => (parseSize(value) ?? 0) > 0)
const address = is(
  "'host:port', ':port' or '[v6]:port'",
  (value) => typeof value === 'string' && parseAddress(value) !== undefined,
)
const logger = is('an object with the methods debug, info, warn and error', (value) =>
  hasMethods(value, 'debug', 'info', 'warn', 'error'),
)
const summaryManager = is(
  'new SummaryManager({ model, timeout })',
  (value) => isPlain(value) && hasMethods(value.summarizer, 'summarize') && typeof value.timeoutMs === 'number',
)
const model: Check = (value, key, complain) => {
  const problem = problemOfModel(value)
  if (problem !== undefined) complain(key, `is ${show(value)}; ${problem}`)
}

const sqlite = fields({
  type: oneOf('sqlite'),
  path: is("the path of a file; for memory write 'memory'", (value) => {
    return typeof value === 'string' && value.trim() !== '' && !value.includes(':memory:')
  }),
  synchronous: oneOf('FULL', 'NORMAL'),
})

const sessionStorage: Check = (value, key, complain) => {
  if (value === 'memory' || hasMethods(value, 'open', 'close', 'startRun', 'finishRun')) return
  if (isPlain(value) && value.type === 'sqlite') {
    sqlite(value, key, complain)
    if (value.path === undefined) complain(`${key}.path`, 'is missing; allowed: the path of a file')
    return
  }
  is("'memory', { type: 'sqlite', path }, or an object that implements the store", () => false)(value, key, complain)
}

const origins: Check = (value, key, complain) => {
  listOf(origin)(value, key, complain)
  if (Array.isArray(value) && value.includes('*') && value.length > 1) {
    complain(key, "has '*' beside others; allowed: '*' alone, or origins")
  }
}

const proxy = is(
  "the address of a proxy, a range as '10.0.0.0/8', or 'loopback'",
  (value) => typeof value === 'string' && parseAddressRanges(value).length > 0,
)
const proxies: Check = (value, key, complain) => {
  if (value === false) return
  if (Array.isArray(value)) listOf(proxy)(value, key, complain)
  else proxy(value, key, complain)
}

/** Every key that `server` may have. */
export const serverSettings = fields({
  address,
  prefix: path,
  sessionStorage,
  logger,
  debug: flag,
  allowOrigins: origins,
  allowMethods: listOf(method),
  allowHeaders: listOf(header),
  allowHosts: listOf(text),
  requestTimeout: timeLimit,
  maxRequestSize: size,
  healthPath: path,
  vectorDb: fields({
    type: oneOf('lancedb', 'memory'),
    baseUrl: text,
    collectionName: collection,
    database: name,
    tenant: name,
  }),
  embedding: fields({
    provider: oneOf('auto', 'transformers', 'lexical', 'openai'),
    apiKey: secret,
    model: text,
    baseUrl: text,
    dtype: oneOf('fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4'),
  }),
  knowledgeApi: fields({ search: flag, config: flag, content: flag, documents: flag }),
  summaryManager,
  a2a: fields({ prefix: path }),
  auth: fields({ keys: authKeys }),
  limits: limitSettings,
  allowUnauthenticated: flag,
  trustProxy: proxies,
  retention: fields({ maxAge: duration, maxSessions: count }),
})

const entities: Check = (value, key, complain) => {
  if (!isPlain(value)) complain(key, 'must be an object that has one entry for each id')
}

/** Every key of agent.config.ts. */
export const userSettings = fields({
  model,
  knowledge: fields({
    sources: listOf(text),
    collection,
    chunkSize: integer(1, 20_000),
    chunkOverlap: integer(0, 19_999),
  }),
  agents: entities,
  teams: entities,
  workflows: entities,
  mcpServers: entities,
  server: serverSettings,
  dispose: is('a function', (value) => typeof value === 'function'),
})

function hasMethods(value: unknown, ...names: string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  return names.every((method) => typeof Reflect.get(value, method) === 'function')
}

function isOrigin(value: unknown): boolean {
  if (value === '*') return true
  return typeof value === 'string' && URL.canParse(value) && new URL(value).origin === value.toLowerCase()
}
