import type { AppError, ErrorCode } from '../core/error.ts'
import { type Logger, silentLogger } from '../core/logger.ts'
import type { Clock } from '../core/time.ts'
import type { Reply } from './reply.ts'
import type { AuthKey } from './security/auth.ts'
import type { Tokens } from './tokens/tokens.ts'

/** The outcome of a request for the log, without content. */
export interface RequestRecord {
  method: string
  path: string
  /** The route's pattern, so that the number of values is small. Undefined without a route. */
  route: string | undefined
  /** 499 when the client left before the answer. */
  status: number
  /** Of the error that it was answered with. */
  code: ErrorCode | undefined
  durationMs: number
  requestId: string
  caller: string
  /** The user of the caller's key or token. */
  userId: string | undefined
  /** From the answer's `X-Run-Id` and `X-Session-Id`. */
  runId: string | undefined
  sessionId: string | undefined
}

export interface TrafficLimits {
  /** Open connections; further ones are closed at once. */
  connections: number
  /** Maximum concurrent requests, without streams that have begun. Further requests get `unavailable`. */
  requests: number
  /** Maximum requests per minute per key, or per address without keys. Further requests get `rate_limited`. Undefined: no limit. */
  requestsPerMinute: number | undefined
  /** Maximum bytes of all request bodies in memory. Further bodies wait for room and then get `unavailable`. */
  bodiesBytes: number
  /** The same per key. */
  bodiesPerKeyBytes: number
}

export interface KernelConfig {
  maxRequestBytes: number
  /** Time limit of plain replies until the handler returns. */
  requestTimeoutMs: number
  allowOrigins: readonly string[]
  allowMethods?: readonly string[] | undefined
  allowHeaders?: readonly string[] | undefined
  allowHosts: readonly string[]
  /** Without keys and `tokens`, every caller is `anonymous`. */
  authKeys: readonly AuthKey[]
  /** Addresses and ranges of the proxies whose `X-Forwarded-For` names the caller's address. */
  trustProxy: readonly string[]
  limits: TrafficLimits
  /** Stack traces in the log. */
  debug: boolean
}

interface OwnSettings {
  /** Extra time after the deadline for the handler to answer itself. */
  deadlineGraceMs: number
  /** What an embedding server listens on; `listen` sets its own. */
  boundHost: string | undefined
  headersTimeoutMs: number
  bodyTimeoutMs: number
  /** How long a body waits for room among the others. */
  bodyWaitMs: number
  keepAliveTimeoutMs: number
  connectionsCheckingIntervalMs: number
  maxHeaders: number
  /** Silence after which a stream sends a comment. */
  heartbeatMs: number
  /** How long a stream waits for its reader to drain the socket. */
  stallTimeoutMs: number
  /** Accepted beside keys. */
  tokens: Tokens | undefined
  logger: Logger
  clock: Clock
  onRequest: ((record: RequestRecord) => void) | undefined
  /** Told once a minute while requests have wrong keys. */
  onWrongKeys: ((counted: { requests: number; addresses: number }) => void) | undefined
  /** Makes the answer to a failed navigation of a browser, for a person; without it, it is JSON as for all others. */
  errorPage: ((error: AppError, requestId: string) => Reply) | undefined
  /** With this secret the server proves its identity to commands, on any handler at the path. `socketPath`: what it listens on. */
  proof: { path: string; secret: string; socketPath?: string | undefined } | undefined
}

export interface KernelSettings extends KernelConfig, OwnSettings {}

export type KernelOptions = KernelConfig & { [Name in keyof OwnSettings]?: OwnSettings[Name] | undefined }

const ownDefaults: OwnSettings = {
  deadlineGraceMs: 500,
  boundHost: undefined,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 30_000,
  bodyWaitMs: 10_000,
  keepAliveTimeoutMs: 72_000,
  connectionsCheckingIntervalMs: 2_000,
  maxHeaders: 100,
  heartbeatMs: 15_000,
  stallTimeoutMs: 30_000,
  tokens: undefined,
  logger: silentLogger,
  clock: Date.now,
  onRequest: undefined,
  onWrongKeys: undefined,
  errorPage: undefined,
  proof: undefined,
}

export function resolveKernelOptions(options: KernelOptions): KernelSettings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  return { ...ownDefaults, ...(given as typeof options & OwnSettings) }
}
