import { randomBytes } from 'node:crypto'
import { createErrorPage } from '../api/server/error-page.ts'
import { createLogger } from '../config/logger.ts'
import type { ResolvedConfig } from '../config/types.ts'
import type { Actor } from '../core/access/audit.ts'
import { proofBytes } from '../core/access/server-proof.ts'
import { parseDuration } from '../core/duration.ts'
import { createId } from '../core/id.ts'
import type { Recovered } from '../core/store.ts'
import { timestamp } from '../core/time.ts'
import { version } from '../core/version.ts'
import { createKernel } from '../http/kernel.ts'
import { createTokens } from '../http/tokens/tokens.ts'
import { systemTimers } from '../runtime/timers.ts'
import { serverActor } from '../service/audit/audit.ts'
import { removeLeftCopies } from '../store/backup/archive.ts'
import { lockDataFolder, removeServerHint, writeServerHint } from '../store/data-folder.ts'
import { AuditedRequests } from './audited-requests.ts'
import { CurrentConfig, reloadOf } from './current-config.ts'
import { databaseOf, databaseOfKnowledge, openDatabase, startPatienceMs, untilDone } from './database/database.ts'
import { folderRoutes } from './folder/folder-routes.ts'
import { ownerOf } from './folder/owner.ts'
import { configName, foldersOf, keptFolderOf, toHint } from './folders.ts'
import { tellOfLocalKnowledge } from './knowledge/left-behind.ts'
import { Lifecycle, type OnClose } from './lifecycle.ts'
import { assertKeysForAnyOrigin, assertMayListen, listenOn } from './listen.ts'
import { createMetrics } from './metrics.ts'
import { createMounting } from './mounting.ts'
import { toEntity } from './parts.ts'
import { pathsOf } from './path-clash.ts'
import { readinessOf } from './readiness.ts'
import { logRequest } from './request-log.ts'
import { servedStudio } from './served-studio.ts'
import { composeServices } from './services.ts'
import { createProjectTests } from './tests/project-tests.ts'
import type { OpenServer, ServerPurpose } from './types.ts'

const anonymous: Actor = { caller: 'anonymous', userId: undefined, requestId: undefined }
const nothing: Recovered = { interrupted: [], queued: [] }

/** Puts all parts together; does no I/O before `start` or the first `inject`. */
export function composeServer(initial: ResolvedConfig, purpose: ServerPurpose): OpenServer {
  const { mode, onRunEnd, loadConfig, folder: owned, socket } = purpose
  const program = mode !== 'embedded'
  const { server, dataFolder } = initial
  assertKeysForAnyOrigin(server)
  const clock = Date.now
  const logger = server.logger ?? createLogger({ debug: server.debug })
  const owner = createId('own')
  /** Of this process's life, for clients: after a restart they read again what they have read. */
  const serverId = createId('srv')
  /** Commands that may read the data folder get it from there. */
  const secret = socket?.secret ?? randomBytes(proofBytes).toString('base64url')
  const startedAtMs = clock()
  const paths = server.mcp === false ? [] : [server.mcp.path]
  const resource = { publicUrl: server.a2a.publicUrl, paths }
  const tokens = server.jwt && createTokens(server.jwt, { clock, logger, resource })
  const metrics = createMetrics({ version, startedAtMs })
  /** Queued runs of an earlier process. */
  let queued: Recovered['queued'] = []

  const composed = composeServices(initial, {
    logger,
    clock,
    owner,
    serverId,
    mode,
    onFatal: (cause) => life.fail(cause),
    onRunEnd(run) {
      metrics.countRun(run)
      onRunEnd?.(run)
    },
  })
  const { services, store, registry, costs, knowledge, runs, peers, summaries } = composed
  const { notifications, schedules, webhooks, retention, live, telemetry } = composed
  const audit = server.audit.isOn ? composed.audit : undefined
  /** Each command is a server of its own, whose key is the folder. */
  const requests = audit !== undefined && mode !== 'command' ? new AuditedRequests(audit, clock) : undefined

  /** A command is a guest among the servers of a shared store: what others left is theirs. */
  const isGuest = peers !== undefined && mode === 'command'

  const kernel = createKernel({
    ...server,
    tokens,
    logger,
    clock,
    proof: program ? { path: server.healthPath, secret, socketPath: socket?.path } : undefined,
    errorPage: createErrorPage(servedStudio(server)),
    onWrongKeys:
      audit && ((counted) => audit.tell(anonymous, { action: 'key.refused', detail: counted }, 'unauthorized')),
    onRequest(record) {
      metrics.countRequest(record)
      requests?.saw(record)
      logRequest(logger, onRunEnd === undefined ? 'info' : 'debug', record)
    },
  })
  async function open(onClose: OnClose): Promise<void> {
    if (tokens !== undefined) onClose(() => tokens.close())
    tokens?.open()
    for (const folder of foldersOf(initial, program)) {
      const isOwned = owned !== undefined && folder === dataFolder
      const lock = isOwned ? owned.lock : await lockDataFolder(folder)
      onClose(() => lock.release())
      await removeLeftCopies(folder)
    }
    const database = databaseOf(server.sessionStorage)
    const patienceMs = mode === 'command' ? 0 : startPatienceMs
    let isOpen = false
    const enter = async () => {
      await store.open()
      if (!isOpen) onClose(() => store.close())
      if (!isOpen && telemetry !== undefined) onClose(() => telemetry.close())
      isOpen = true
      await peers?.join(runs)
    }
    let recovered = nothing
    const recover = async () => {
      recovered = await store.recover(peers?.owner ?? owner, timestamp(clock()))
    }
    const options = { patienceMs, signal: life.signal, logger, timers: systemTimers }
    const place = databaseOfKnowledge(server.vectorDb)?.place
    // Files of their own, so one need not wait for the other.
    const opening = place === undefined ? knowledge?.open() : undefined
    const close = async () => knowledge?.close()
    if (opening !== undefined) onClose(() => opening.then(close, () => {}))
    await (database === undefined ? enter() : openDatabase(enter, database, options))
    if (peers !== undefined) onClose(() => peers.close())
    await telemetry?.open()
    if (!isGuest) await (database === undefined ? recover() : untilDone(recover, database.place, options))
    if (recovered.interrupted.length > 0) {
      const level = mode === 'command' ? 'info' : 'warn'
      logger[level]({ runs: recovered.interrupted.length }, 'runs of an earlier process were interrupted')
    }
    await opening
    if (knowledge !== undefined && place !== undefined) {
      await untilDone(() => knowledge.open(), place, options)
      onClose(close)
      if (program) await tellOfLocalKnowledge(knowledge, initial, logger)
    }
    queued = recovered.queued
    onClose(() => composed.audit.close())
    onClose(() => summaries.close())
    onClose(() => retention.close())
    if (notifications !== undefined) onClose(() => notifications.close())
    onClose(() => webhooks.close())
    onClose(() => schedules.close())
  }

  const life = new Lifecycle(
    {
      open,
      async takeUp() {
        runs.adopt(queued)
        queued = []
        peers?.serve()
        if (isGuest) return
        retention.start()
        if (mode !== 'command') {
          notifications?.takeUp()
          webhooks.takeUp(peers === undefined)
          schedules.start()
        }
        if (peers === undefined) await summaries.recover()
        else summaries.takeUp()
      },
      assertMayListen: () => socket ?? assertMayListen(server, program, logger),
      listen: () => (socket === undefined ? listenOn(kernel, server.address, program, logger) : kernel.listen(socket)),
      async announce({ addressUrl }, onClose) {
        if (!program) return
        onClose(() => removeServerHint(dataFolder))
        const place = socket === undefined ? { url: addressUrl } : { socket: socket.path }
        const { owner = ownerOf(mode, startedAtMs) } = owned ?? {}
        const told = writeServerHint(dataFolder, toHint(initial, owner, place, secret))
        if (socket === undefined) return told
        // On a full disk it must still be possible to read what is there.
        await told.catch((error: unknown) => logger.warn({ error }, 'other commands will not find this one'))
      },
      // Commands ask for it when they need it.
      onListening: () => socket ?? config.ingest(),
      startDraining: () => kernel.startDraining(),
      stopAccepting: () => kernel.stopAccepting(),
      endRuns: (deadlineMs) => runs.shutdown(deadlineMs),
      closeConnections(deadlineMs) {
        if (program) kernel.leave()
        return kernel.close({ deadlineMs })
      },
      idle: () => config.idle(),
      dispose: () => config.dispose(),
    },
    logger,
    server.stopWithinMs,
  )
  life.signal.addEventListener('abort', () => live.close(), { once: true })
  life.signal.addEventListener('abort', () => void schedules.close(), { once: true })
  const config = new CurrentConfig(initial, {
    knowledge,
    logger,
    signal: life.signal,
    timers: systemTimers,
    folder: keptFolderOf(initial, program),
    runsEnded: () => runs.idle(),
  })
  const about = {
    kernel,
    services,
    store,
    server,
    file: initial.file,
    version,
    startedAtMs,
    serverId,
    live,
    mode,
    root: initial.root,
    projectTests: loadConfig && createProjectTests(initial.root, initial.dataFolder, loadConfig),
    clock,
    readiness: () => readinessOf(life.phase, store, knowledge, peers?.state.lease, tokens?.state()),
    metrics: () => metrics.print({ peers: peers?.state, writes: store.numbers?.(), spans: telemetry?.numbers }),
    folder: keptFolderOf(initial, program),
    traced: telemetry !== undefined,
    audit,
    resource: tokens?.resource,
    folderRoutes: socket === undefined ? [] : folderRoutes(socket, config),
  }
  const mounting = createMounting(about)
  life.signal.addEventListener('abort', () => mounting.close(), { once: true })
  mounting.mount()

  return {
    services,
    underWay: () => ({ run_ids: runs.ids(), request_ids: kernel.requestIds() }),
    async finishRuns({ deadline, signal } = {}) {
      kernel.leave()
      const hurry = () => void runs.shutdown(0)
      signal?.addEventListener('abort', hurry, { once: true })
      await runs.shutdown(signal?.aborted === true ? 0 : (parseDuration(deadline) ?? server.stopWithinMs))
      signal?.removeEventListener('abort', hurry)
    },
    ready: life.ready,
    start: () => life.start(),
    listen() {
      life.start().catch(() => {})
      return life.ready
    },
    shutdown: (options) => life.shutdown(options),
    close: (options) => life.shutdown(options),
    registerAgent(id, entity) {
      const { model, root, mcp, testDoubles, server } = config.value
      const { limits, files, runTimeoutMs } = server
      const defaults = { model, root, mcp, testDoubles, limits, fetchUrls: files.fetchUrls, runTimeoutMs }
      registry.register(id, toEntity(entity, defaults))
      mounting.agentsChanged()
      if (life.isServing) runs.adopt([])
    },
    resync: mounting.mount,
    healthRouter: mounting.healthRouter,
    async inject(request) {
      await life.serve()
      return kernel.inject(request)
    },
    handle(request, response) {
      if (life.isServing) return kernel.handle(request, response)
      life
        .serve()
        .catch((error: unknown) => logger.error({ error }, 'the server could not be opened'))
        .then(() => kernel.handle(request, response))
    },
    async reload(next) {
      try {
        // Its paths are for the next start, which would refuse them.
        if (pathsOf(next.server) !== pathsOf(server))
          createMounting({ ...about, server: next.server, file: next.file }).check()
      } catch (error) {
        await next.dispose?.()
        throw error
      }
      audit?.tell(serverActor, reloadOf(next))
      config.replace(next)
      registry.replace(next.entities, configName(next))
      costs.replace(next.prices)
      webhooks.replace(next.webhooks)
      schedules.replace(next.schedules)
      live.agentsLoaded({ ok: true })
      if (life.isServing) runs.adopt([])
      mounting.mount()
      mounting.agentsChanged()
      config.ingest()
    },
    reloadFailed(error) {
      audit?.tell(serverActor, reloadOf(config.value), 'failed')
      live.agentsLoaded({ ok: false, error })
    },
    refreshSources: () => config.ingest(),
    ingested: () => config.ingested(),
    filesToCome: () => config.toCome,
  }
}
