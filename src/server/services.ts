import type { ResolvedConfig } from '../config/types.ts'
import type { Logger } from '../core/logger.ts'
import type { RunRecord } from '../core/run.ts'
import type { SessionStore } from '../core/store.ts'
import type { Clock } from '../core/time.ts'
import { createCosts, type PricedCosts } from '../models/prices/costs.ts'
import { cancelWaitingTasks } from '../runnables/remote/waiting-tasks.ts'
import { nameServers } from '../runtime/name-servers.ts'
import { systemTimers } from '../runtime/timers.ts'
import { createFacts } from '../service/access/facts.ts'
import { createUsers } from '../service/access/user-data.ts'
import { createAgain } from '../service/again/again.ts'
import { createKeep } from '../service/again/keep.ts'
import { Audit, serverActor, unaudited } from '../service/audit/audit.ts'
import { createBookmarks } from '../service/bookmarks.ts'
import { createOnce } from '../service/idempotency.ts'
import type { OpenableKnowledge } from '../service/knowledge/knowledge.ts'
import { watchStore } from '../service/live/changes.ts'
import { headsOf } from '../service/live/heads.ts'
import { watchKnowledge } from '../service/live/knowledge.ts'
import { createLive, type Live } from '../service/live/live.ts'
import type { NotificationService } from '../service/notifications/notifications.ts'
import type { Peers } from '../service/peers/peers.ts'
import { createRegistry } from '../service/registry.ts'
import { createRuns, type RunService } from '../service/runs/runs.ts'
import { ScheduleService } from '../service/schedules/schedules.ts'
import type { Registry, Services } from '../service/services.ts'
import { createRetention, type Retention } from '../service/sessions/retention.ts'
import { createSessions } from '../service/sessions/sessions.ts'
import { createSummaries, type SummaryService } from '../service/sessions/summaries.ts'
import { WebhookService } from '../service/webhooks/webhooks.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { ServerMode } from '../wire/me.ts'
import { composeBackup } from './backup.ts'
import { composePeers } from './database/instance.ts'
import { configName } from './folders.ts'
import { composeKnowledge } from './knowledge/knowledge.ts'
import { composeNotifications } from './notifications.ts'
import { createStore } from './store.ts'
import { composeTelemetry } from './telemetry.ts'

export interface ServicesOptions {
  logger: Logger
  clock: Clock
  /** The id of this process in the store. */
  owner: string
  /** Of this process's life, for clients. */
  serverId: string
  mode: ServerMode
  /** The store has failed and confirms no more writes. */
  onFatal: (error: unknown) => void
  onRunEnd?: ((run: RunRecord) => void) | undefined
}

/** The services for routes and protocols, and the resources that the server opens and closes. */
export interface ComposedServices {
  services: Services
  store: SessionStore
  registry: Registry
  costs: PricedCosts
  knowledge: OpenableKnowledge | undefined
  runs: RunService
  /** Absent where no other server can write to the store. */
  peers: Peers | undefined
  summaries: SummaryService
  notifications: NotificationService | undefined
  schedules: ScheduleService
  webhooks: WebhookService
  retention: Retention
  audit: Audit
  live: Live
  /** Absent unless it is configured. */
  telemetry: Telemetry | undefined
}

export function composeServices(
  config: ResolvedConfig,
  { logger, clock, owner, serverId, mode, onFatal, onRunEnd }: ServicesOptions,
): ComposedServices {
  const {
    sessionStorage,
    runTimeoutMs: requestTimeoutMs,
    summaryManager,
    retention: rules,
    audit: auditing,
    limits: bounds,
    clientInstructions,
  } = config.server
  const failed = (error: unknown) => {
    logger.error({ error }, 'storage failed; no further writes are acknowledged')
    onFatal(error)
  }
  const stored = createStore(sessionStorage, logger, failed, mode === 'command')
  const telemetry = composeTelemetry(config, { store: stored, runs: () => runs, logger })
  const watched = watchStore(stored, telemetry?.interrupted)
  const notifications = composeNotifications(config, {
    store: watched.store,
    runs: () => runs,
    sessions: () => sessions,
    owner: () => peers?.owner ?? owner,
    logger,
    clock,
  })
  const webhooks = new WebhookService(config.webhooks, {
    store: watched.store,
    runs: () => runs,
    network: nameServers(),
    clock,
    timers: systemTimers,
    logger,
  })
  const store = webhooks.watching(notifications?.watching(watched.store) ?? watched.store)
  const registry = createRegistry()
  registry.replace(config.entities, configName(config))
  const composed = composeKnowledge(config, { clock, logger, ownsFolder: mode !== 'embedded' })
  const knowledge = composed && watchKnowledge(composed.knowledge, () => live.knowledgeChanged())
  const { port } = config.server.address
  const onGone = () => {
    summaries.takeUp()
    notifications?.takeUp()
    webhooks.takeUp()
  }
  const peers = composePeers({ store, storage: sessionStorage, registry, mode, port, owner, logger, clock, onGone })
  const runs = createRuns({
    store,
    registry,
    knowledge,
    logger,
    clock,
    timers: systemTimers,
    requestTimeoutMs,
    bounds,
    clientInstructions,
    owner,
    peers,
    tracing: telemetry,
    onWaitCancelled: (requests) => cancelWaitingTasks(requests, logger),
    onRunEnd,
    onTurnsReplaced: (sessionId) => summaries.renew(sessionId),
  })
  const live = createLive({
    serverId,
    changes: watched.changes,
    heads: headsOf(store),
    runs,
    timers: systemTimers,
    clock,
  })
  const schedules = new ScheduleService(config.schedules, {
    store,
    runs: () => runs,
    clock,
    timers: systemTimers,
    logger,
  })
  const sessions = createSessions(store, runs, clock, bounds)
  const { summarizer, timeoutMs = 0 } = summaryManager ?? {}
  const summaries: SummaryService = createSummaries({ store, clock, logger, summarizer, timeoutMs })
  const audit = new Audit({ store, clock, logger, serverId, ...auditing })
  const retention = createRetention({
    store,
    clock,
    logger,
    ...rules,
    onPruned(deleted) {
      if (auditing.isOn) audit.tell(serverActor, { action: 'session.prune', detail: { deleted } })
    },
    // Also those of a time when it was on.
    expireMore: () => audit.expire(),
  })
  const once = createOnce(store, clock, logger)
  const users = createUsers({ store, sessions, runs, clock, onErased: (userId) => audit.hide(userId) })
  const backup = composeBackup(config, composed?.documentsPath, clock)
  const costs = createCosts(config.prices)
  const again = createAgain({ store, registry, runs, sessions, bounds })
  const keep = createKeep({ runs, sessions })
  const services = {
    registry,
    bookmarks: createBookmarks(store, clock),
    costs,
    runs,
    again,
    keep,
    sessions,
    summaries,
    schedules,
    notifications,
    knowledge,
    users,
    facts: createFacts(store),
    logger,
    once,
    backup,
    ...unaudited,
    audit: auditing.isOn ? audit : undefined,
  }
  return {
    services,
    store,
    registry,
    costs,
    knowledge,
    runs,
    peers,
    summaries,
    notifications,
    schedules,
    webhooks,
    retention,
    audit,
    live,
    telemetry,
  }
}
