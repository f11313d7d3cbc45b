import { dirname } from 'node:path'
import { apiRoutes } from '../api/routes.ts'
import { defaults } from '../config/defaults.ts'
import { createLogger } from '../config/logger.ts'
import type { Duration, ResolvedConfig } from '../config/types.ts'
import { parseDuration } from '../core/duration.ts'
import { AppError } from '../core/error.ts'
import { createId } from '../core/id.ts'
import type { Recovered } from '../core/store.ts'
import { timestamp } from '../core/time.ts'
import { version } from '../core/version.ts'
import { createKernel } from '../http/kernel.ts'
import type { Bound } from '../http/listen.ts'
import type { InjectRequest, InjectResponse } from '../http/request.ts'
import type { Route } from '../http/route.ts'
import { a2aRoutes } from '../protocols/a2a/a2a.ts'
import { a2aDocs } from '../protocols/a2a/docs.ts'
import { createOnce } from '../service/idempotency.ts'
import { createRegistry } from '../service/registry.ts'
import { createRetention } from '../service/retention.ts'
import { createRuns } from '../service/runs.ts'
import type { Services } from '../service/services.ts'
import { createSessions } from '../service/sessions.ts'
import { createSummaries } from '../service/summaries.ts'
import { lockDataFolder, removeServerHint, writeServerHint } from '../store/data-folder.ts'
import type { Readiness } from '../wire/health.ts'
import { ingestSources } from './ingest-sources.ts'
import { composeKnowledge } from './knowledge.ts'
import { assertMayListen, listenOn } from './listen.ts'
import { toEntity } from './parts.ts'
import { createStore } from './store.ts'

const defaultDeadlineMs = 10_000
const lastEventsMs = 1_000

export interface ShutdownOptions {
  /** What running work gets before it is cancelled; default 10 s. */
  deadline?: Duration
  /** Ends the waiting at once. */
  signal?: AbortSignal
}

/** A handler of the health route that replaces ours, and whatever else belongs beside it. */
export interface HealthRouter {
  route(route: Pick<Route, 'handler'> & Partial<Pick<Route, 'method'>>): void
}

export interface Server {
  /** `entity`: what `agent`, `team` or `workflow` return, or an AI SDK `Agent`. Throws on an empty or taken id. */
  registerAgent(id: string, entity: object): void
  /** Opens everything and listens; resolves when the server has been shut down, rejects when it could not start or go on. */
  start(): Promise<void>
  /** The address, once it listens. */
  readonly ready: Promise<Bound>
  /** Readiness fails first, then no new work; running work gets the deadline, then is cancelled and recorded. */
  shutdown(options?: ShutdownOptions): Promise<void>
  /** Mounts routes and documentation again, as agents and handlers are now. Requests that have begun go on. */
  resync(): void
  /** Where a custom handler can be attached; default path: the health path. Takes effect with the call of `route`. */
  healthRouter(path?: string): HealthRouter
  /** A request without a socket; opens the server if it is not open yet. */
  inject(request: InjectRequest): Promise<InjectResponse>
}

export interface OpenServer extends Server {
  /** Exchanges agents and knowledge sources for those of a new config; what runs goes on with the old one. */
  reload(config: ResolvedConfig): Promise<void>
  readonly services: Services
}

/** What differs between the command line and somebody's program. */
export interface ServerPurpose {
  /** Owns the data folder, tells of itself there, looks for a free port, refuses an open bind without keys. */
  program: boolean
}

/** Puts everything together; does no I/O before `start` or the first `inject`. */
export function composeServer(initial: ResolvedConfig, { program }: ServerPurpose): OpenServer {
  let config = initial
  const { server } = config
  const clock = Date.now
  const logger = server.logger ?? createLogger({ debug: server.debug })
  const owner = createId('own')
  const finished = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<Bound>()
  ready.promise.catch(() => {})
  finished.promise.catch(() => {})
  const stopping = new AbortController()
  const releases: (() => Promise<void>)[] = []
  let opened: Promise<void> | undefined
  let starting: Promise<Bound> | undefined
  let closed: Promise<void> | undefined
  let failure: { cause: unknown } | undefined
  /** What an earlier process left waiting, until there is somebody to serve. */
  let waiting: Recovered['queued'] = []
  let isOpen = false
  let hasTakenUp = false
  let ingesting = Promise.resolve()
  const custom: Route[] = []

  const store = createStore(server.sessionStorage, logger, (error) => {
    logger.error({ error }, 'storage failed; nothing is acknowledged any more')
    fail(error)
  })
  const registry = createRegistry()
  registry.replace(config.entities)
  const knowledge = composeKnowledge(config, { clock, logger })
  const runs = createRuns({
    store,
    registry,
    knowledge,
    logger,
    clock,
    requestTimeoutMs: server.requestTimeoutMs,
    owner,
  })
  const sessions = createSessions(store, runs, clock)
  const { summarizer, timeoutMs = 0 } = server.summaryManager ?? {}
  const summaries = createSummaries({ store, clock, logger, summarizer, timeoutMs })
  const { maxAgeMs, maxSessions } = server.retention
  const retention = createRetention({ store, clock, logger, maxAgeMs, maxSessions })
  const services: Services = {
    registry,
    runs,
    sessions,
    summaries,
    knowledge,
    logger,
    once: createOnce(store, clock, logger),
  }

  const kernel = createKernel({
    maxRequestBytes: server.maxRequestBytes,
    requestTimeoutMs: server.requestTimeoutMs,
    allowOrigins: server.allowOrigins,
    allowMethods: server.allowMethods,
    allowHeaders: server.allowHeaders,
    allowHosts: server.allowHosts,
    authKeys: server.authKeys,
    limits: server.limits,
    logger,
    debug: server.debug,
    clock,
    onRequest: (record) => logger.debug(record, 'request'),
  })

  function mount(): void {
    const api = apiRoutes(services, {
      prefix: server.prefix,
      healthPath: server.healthPath,
      knowledgeApi: server.knowledgeApi,
      a2aPrefix: server.a2aPrefix,
      requestTimeoutMs: server.requestTimeoutMs,
      version,
      startedAtMs,
      clock,
      authRequired: server.authKeys.length > 0,
      readiness,
      extraDocs: a2aDocs(server.a2aPrefix),
    })
    kernel.setRoutes([...api, ...a2aRoutes(() => services, server.a2aPrefix), ...custom])
  }

  async function readiness(): Promise<Readiness> {
    const [storage, knowing] = await Promise.all([passes(store.check()), passes(knowledge?.check())])
    const status = stopping.signal.aborted
      ? 'stopping'
      : !isOpen
        ? 'starting'
        : storage && knowing
          ? 'ready'
          : 'unavailable'
    return {
      status,
      checks: { storage: toCheck(storage), knowledge: knowledge === undefined ? 'off' : toCheck(knowing) },
    }
  }

  async function open(): Promise<void> {
    await lockFolders()
    await store.open()
    releases.push(() => store.close())
    const recovered = await store.recover(owner, timestamp(clock()))
    if (recovered.interrupted.length > 0) {
      logger.warn({ runs: recovered.interrupted.length }, 'runs of an earlier process were interrupted')
    }
    if (knowledge !== undefined) {
      await knowledge.open()
      releases.push(() => knowledge.close())
    }
    waiting = recovered.queued
    releases.push(() => summaries.close())
    releases.push(() => retention.close())
    isOpen = true
  }

  async function lockFolders(): Promise<void> {
    const folders = new Set<string>()
    if (program) folders.add(config.dataFolder)
    const storage = server.sessionStorage
    if (typeof storage === 'object' && 'path' in storage) folders.add(dirname(storage.path))
    if (server.vectorDb?.type === 'lancedb' && server.vectorDb.baseUrl !== undefined)
      folders.add(server.vectorDb.baseUrl)
    for (const folder of folders) {
      const lock = await lockDataFolder(folder)
      releases.push(() => lock.release())
    }
  }

  function ensureOpen(): Promise<void> {
    opened ??= stopping.signal.aborted
      ? Promise.reject(new AppError('unavailable', 'The server has been shut down.'))
      : open()
    return opened
  }

  /** Takes up the work of an earlier process: not before it is sure that this one goes on. */
  async function takeUp(): Promise<void> {
    if (!isOpen || hasTakenUp || stopping.signal.aborted) return
    hasTakenUp = true
    runs.adopt(waiting)
    waiting = []
    retention.start()
    await summaries.recover()
  }

  function assertGoesOn(): void {
    if (stopping.signal.aborted) throw new AppError('unavailable', 'The server has been shut down.')
  }

  async function listen(): Promise<Bound> {
    assertMayListen(server, program, logger)
    await ensureOpen()
    assertGoesOn()
    const bound = await listenOn(kernel, server.address, program, logger)
    assertGoesOn()
    const takenUp = takeUp()
    if (program) {
      const hint = {
        pid: process.pid,
        url: bound.url,
        version,
        started_at: timestamp(startedAtMs),
        prefix: unlessDefault(server.prefix, defaults.prefix),
        a2a_prefix: unlessDefault(server.a2aPrefix, defaults.a2aPrefix),
        health_path: unlessDefault(server.healthPath, defaults.healthPath),
      }
      releases.push(() => removeServerHint(config.dataFolder))
      await writeServerHint(config.dataFolder, hint)
    }
    await takenUp
    return bound
  }

  async function start(): Promise<void> {
    try {
      starting ??= listen()
      const bound = await starting
      ready.resolve(bound)
      startIngesting()
    } catch (error) {
      ready.reject(error)
      if (!stopping.signal.aborted) fail(error)
    }
    return finished.promise
  }

  function fail(cause: unknown): void {
    failure ??= { cause }
    if (closed !== undefined) void runs.shutdown(0)
    else void close(0)
  }

  function startIngesting(): void {
    if (knowledge === undefined || config.knowledge.sources.length === 0) return
    const { root, knowledge: wanted } = config
    ingesting = ingesting.then(() => ingestSources({ knowledge, root, ...wanted, logger, signal: stopping.signal }))
  }

  function close(deadlineMs: number): Promise<void> {
    closed ??= (async () => {
      stopping.abort()
      await starting?.catch(() => {})
      const connections = kernel.close({ deadlineMs: deadlineMs + lastEventsMs })
      await opened?.catch(() => {})
      if (isOpen) await runs.shutdown(deadlineMs)
      await connections
      await ingesting
      for (const release of releases.toReversed()) {
        await release().catch((error: unknown) => logger.error({ error }, 'closing failed'))
      }
      try {
        await config.dispose?.()
      } catch (error) {
        logger.error({ error }, 'dispose failed')
      }
      if (failure === undefined) finished.resolve()
      else finished.reject(failure.cause)
      ready.reject(failure?.cause ?? new AppError('unavailable', 'The server has been shut down.'))
    })()
    return closed
  }

  const startedAtMs = clock()
  mount()
  return {
    services,
    ready: ready.promise,
    start,
    registerAgent(id, entity) {
      registry.register(id, toEntity(entity, { model: config.model, root: config.root }))
      if (hasTakenUp) runs.adopt([])
    },
    async shutdown({ deadline, signal } = {}) {
      const deadlineMs = parseDuration(deadline) ?? defaultDeadlineMs
      const givenMs = signal?.aborted === true ? 0 : deadlineMs
      if (closed !== undefined && isOpen) void runs.shutdown(givenMs)
      const closing = close(givenMs)
      if (signal === undefined) return closing
      const hurry = () => void runs.shutdown(0)
      signal.addEventListener('abort', hurry, { once: true })
      await closing.finally(() => signal.removeEventListener('abort', hurry))
    },
    resync: mount,
    healthRouter(path = server.healthPath) {
      return {
        route({ method = 'GET', handler }) {
          custom.push({ method, path, open: true, handler })
          mount()
        },
      }
    },
    async inject(request) {
      await ensureOpen()
      await takeUp()
      return kernel.inject(request)
    },
    async reload(next) {
      const { dispose } = config
      const settled = runs.settled()
      config = next
      registry.replace(next.entities)
      if (hasTakenUp) runs.adopt([])
      mount()
      startIngesting()
      if (dispose !== undefined)
        void settled.then(dispose).catch((error: unknown) => logger.error({ error }, 'dispose failed'))
    },
  }
}

async function passes(check: Promise<void> | undefined): Promise<boolean> {
  try {
    await check
    return true
  } catch {
    return false
  }
}

function toCheck(passed: boolean): 'ok' | 'failed' {
  return passed ? 'ok' : 'failed'
}

function unlessDefault(place: string, usual: string): string | undefined {
  return place === usual ? undefined : place
}
