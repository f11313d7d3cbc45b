import { randomBytes } from 'node:crypto'
import type { ApiSettings } from '../api/route/settings.ts'
import { apiRoutes } from '../api/routes.ts'
import { createLogger } from '../config/logger.ts'
import type { ResolvedConfig } from '../config/types.ts'
import { proofBytes } from '../core/access/server-proof.ts'
import { parseDuration } from '../core/duration.ts'
import { AppError } from '../core/error.ts'
import { createId } from '../core/id.ts'
import type { Recovered } from '../core/store.ts'
import { timestamp } from '../core/time.ts'
import { version } from '../core/version.ts'
import { createKernel } from '../http/kernel.ts'
import type { Bound } from '../http/listen.ts'
import type { Route } from '../http/router.ts'
import { a2aRoutes } from '../protocols/a2a/a2a.ts'
import { a2aDocs } from '../protocols/a2a/docs.ts'
import { within } from '../runtime/abort.ts'
import { createSerial } from '../runtime/serial.ts'
import { removeLeftCopies } from '../store/backup/archive.ts'
import { lockDataFolder, removeServerHint, writeServerHint } from '../store/data-folder.ts'
import { servicesPerCaller } from './caller-services.ts'
import { foldersOf, toHint } from './folders.ts'
import { ingestSources } from './ingest-sources.ts'
import { assertKeysForAnyOrigin, assertMayListen, listenOn } from './listen.ts'
import { createMetrics } from './metrics.ts'
import { toEntity } from './parts.ts'
import { readinessOf } from './readiness.ts'
import { logRequest } from './request-log.ts'
import { composeServices } from './services.ts'
import type { OpenServer, ServerPurpose, ShutdownOptions } from './types.ts'

const defaultDeadlineMs = 10_000
const lastEventsMs = 1_000
const minDisposeMs = 2_000

/** Puts everything together; does no I/O before `start` or the first `inject`. */
export function composeServer(initial: ResolvedConfig, { program, onRunEnd }: ServerPurpose): OpenServer {
  let config = initial
  const { server } = config
  assertKeysForAnyOrigin(server)
  const clock = Date.now
  const logger = server.logger ?? createLogger({ debug: server.debug })
  const owner = createId('own')
  /** Shared with the commands that may read the data folder. */
  const secret = randomBytes(proofBytes).toString('base64url')
  const startedAtMs = clock()
  const metrics = createMetrics({ version, startedAtMs })
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
  const ingests = createSerial()
  /** Of configs that a reload has replaced. */
  const disposals = new Set<Promise<void>>()
  const custom: Route[] = []

  const { services, store, registry, knowledge, runs, summaries, retention } = composeServices(config, {
    logger,
    clock,
    owner,
    onFatal: fail,
    onRunEnd(run) {
      metrics.countRun(run)
      onRunEnd?.(run)
    },
  })

  const servicesOf = servicesPerCaller(services, store, server)
  const kernel = createKernel({
    maxRequestBytes: server.maxRequestBytes,
    requestTimeoutMs: server.requestTimeoutMs,
    allowOrigins: server.allowOrigins,
    allowMethods: server.allowMethods,
    allowHeaders: server.allowHeaders,
    allowHosts: server.allowHosts,
    authKeys: server.authKeys,
    trustProxy: server.trustProxy,
    limits: server.limits,
    logger,
    debug: server.debug,
    clock,
    proof: program ? { path: server.healthPath, secret } : undefined,
    onRequest(record) {
      metrics.countRequest(record)
      logRequest(logger, onRunEnd === undefined ? 'info' : 'debug', record)
    },
  })

  function mount(): void {
    const settings: ApiSettings = {
      prefix: server.prefix,
      healthPath: server.healthPath,
      knowledgeApi: server.knowledgeApi,
      a2aPrefix: server.a2aPrefix,
      runTimeoutMs: server.runTimeoutMs,
      importBytes: server.limits.importBytes,
      version,
      startedAtMs,
      clock,
      authRequired: server.authKeys.length > 0,
      readiness: () => readinessOf(phase(), store, knowledge),
      metrics: metrics.print,
      extraDocs: a2aDocs(server.a2aPrefix),
    }
    const api = apiRoutes(services, settings, servicesOf)
    kernel.setRoutes([...api, ...a2aRoutes(servicesOf, server.a2aPrefix, server.runTimeoutMs), ...custom])
  }

  function phase(): 'starting' | 'open' | 'stopping' {
    if (stopping.signal.aborted) return 'stopping'
    return isOpen ? 'open' : 'starting'
  }

  async function open(): Promise<void> {
    for (const folder of foldersOf(config, program)) {
      const lock = await lockDataFolder(folder)
      releases.push(() => lock.release())
      await removeLeftCopies(folder)
    }
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
      releases.push(() => removeServerHint(config.dataFolder))
      await writeServerHint(config.dataFolder, toHint(server, bound.addressUrl, startedAtMs, secret))
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
    if (knowledge === undefined) return
    const { root, knowledge: wanted } = config
    const options = { knowledge, root, ...wanted, logger, signal: stopping.signal }
    void ingests.run(() => ingestSources(options))
  }

  async function dispose(replaced: ResolvedConfig): Promise<void> {
    try {
      await replaced.dispose?.()
    } catch (error) {
      logger.error({ error }, 'dispose failed')
    }
  }

  function close(deadlineMs: number): Promise<void> {
    closed ??= (async () => {
      stopping.abort()
      const endsAt = performance.now() + deadlineMs
      await starting?.catch(() => {})
      const connections = kernel.close({ deadlineMs: deadlineMs + lastEventsMs })
      await opened?.catch(() => {})
      if (isOpen) await runs.shutdown(deadlineMs)
      await connections
      await ingests.idle()
      for (const release of releases.toReversed()) {
        await release().catch((error: unknown) => logger.error({ error }, 'closing failed'))
      }
      const last = Promise.all([...disposals, dispose(config)])
      const ms = Math.max(minDisposeMs, endsAt - performance.now())
      const late = () => new Error('It did not end in time.')
      await within(() => last, { ms, late }).catch((error: unknown) => logger.error({ error }, 'dispose failed'))
      if (failure === undefined) finished.resolve()
      else finished.reject(failure.cause)
      ready.reject(failure?.cause ?? new AppError('unavailable', 'The server has been shut down.'))
    })()
    return closed
  }

  async function shutdown({ deadline, signal }: ShutdownOptions = {}): Promise<void> {
    const deadlineMs = parseDuration(deadline) ?? defaultDeadlineMs
    const givenMs = signal?.aborted === true ? 0 : deadlineMs
    if (closed !== undefined && isOpen) void runs.shutdown(givenMs)
    const closing = close(givenMs)
    if (signal === undefined) return closing
    const hurry = () => void runs.shutdown(0)
    signal.addEventListener('abort', hurry, { once: true })
    await closing.finally(() => signal.removeEventListener('abort', hurry))
  }

  mount()
  return {
    services,
    underWay: () => ({ run_ids: runs.ids(), request_ids: kernel.requestIds() }),
    ready: ready.promise,
    start,
    registerAgent(id, entity) {
      const { model, root, mcp, testDoubles } = config
      const { limits } = config.server
      registry.register(id, toEntity(entity, { model, root, mcp, testDoubles, limits }))
      if (hasTakenUp) runs.adopt([])
    },
    listen() {
      start().catch(() => {})
      return ready.promise
    },
    shutdown,
    close: shutdown,
    resync: mount,
    healthRouter(path = server.healthPath) {
      return {
        route({ method = 'GET', handler }) {
          custom.push({ method, path, scope: 'open', handler })
          mount()
        },
      }
    },
    async inject(request) {
      await ensureOpen()
      await takeUp()
      return kernel.inject(request)
    },
    handle(request, response) {
      if (hasTakenUp) return kernel.handle(request, response)
      const takingUp = ensureOpen().then(takeUp)
      takingUp
        .catch((error: unknown) => logger.error({ error }, 'the server could not be opened'))
        .then(() => kernel.handle(request, response))
    },
    async reload(next) {
      const replaced = config
      const disposal = runs.idle().then(() => dispose(replaced))
      disposals.add(disposal)
      void disposal.finally(() => disposals.delete(disposal))
      config = next
      registry.replace(next.entities)
      if (hasTakenUp) runs.adopt([])
      mount()
      startIngesting()
    },
    refreshSources: startIngesting,
    ingested: ingests.idle,
  }
}
