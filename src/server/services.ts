import type { ResolvedConfig } from '../config/types.ts'
import type { Logger } from '../core/logger.ts'
import type { RunRecord } from '../core/run.ts'
import type { SessionStore } from '../core/store.ts'
import type { Clock } from '../core/time.ts'
import { createCosts, type PricedCosts } from '../models/prices/costs.ts'
import { systemTimers } from '../runtime/timers.ts'
import { createUsers } from '../service/access/user-data.ts'
import { createAgain } from '../service/again/again.ts'
import { createOnce } from '../service/idempotency.ts'
import type { OpenableKnowledge } from '../service/knowledge/knowledge.ts'
import { watchStore } from '../service/live/changes.ts'
import { headsOf } from '../service/live/heads.ts'
import { watchKnowledge } from '../service/live/knowledge.ts'
import { createLive, type Live } from '../service/live/live.ts'
import { createRegistry } from '../service/registry.ts'
import { createRuns, type RunService } from '../service/runs/runs.ts'
import type { Registry, Services } from '../service/services.ts'
import { createRetention, type Retention } from '../service/sessions/retention.ts'
import { createSessions } from '../service/sessions/sessions.ts'
import { createSummaries, type SummaryService } from '../service/sessions/summaries.ts'
import { composeBackup } from './backup.ts'
import { configName } from './folders.ts'
import { composeKnowledge } from './knowledge.ts'
import { createStore } from './store.ts'

export interface ServicesOptions {
  logger: Logger
  clock: Clock
  /** The id of this process in the store. */
  owner: string
  /** Of this process's life, for clients. */
  serverId: string
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
  summaries: SummaryService
  retention: Retention
  live: Live
}

export function composeServices(
  config: ResolvedConfig,
  { logger, clock, owner, serverId, onFatal, onRunEnd }: ServicesOptions,
): ComposedServices {
  const {
    sessionStorage,
    runTimeoutMs: requestTimeoutMs,
    summaryManager,
    retention: rules,
    limits: bounds,
    clientInstructions,
  } = config.server
  const stored = createStore(sessionStorage, logger, (error) => {
    logger.error({ error }, 'storage failed; no further writes are acknowledged')
    onFatal(error)
  })
  const { store, changes } = watchStore(stored)
  const registry = createRegistry()
  registry.replace(config.entities, configName(config))
  const composed = composeKnowledge(config, { clock, logger })
  const knowledge = composed && watchKnowledge(composed.knowledge, () => live.knowledgeChanged())
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
    onRunEnd,
    onTurnsReplaced: (sessionId) => summaries.renew(sessionId),
  })
  const live = createLive({ serverId, changes, heads: headsOf(store), runs, timers: systemTimers, clock })
  const sessions = createSessions(store, runs, clock, bounds)
  const { summarizer, timeoutMs = 0 } = summaryManager ?? {}
  const summaries: SummaryService = createSummaries({ store, clock, logger, summarizer, timeoutMs })
  const retention = createRetention({ store, clock, logger, ...rules })
  const once = createOnce(store, clock, logger)
  const users = createUsers({ store, sessions, runs, clock })
  const backup = composeBackup(config, composed?.documentsPath, clock)
  const costs = createCosts(config.prices)
  const again = createAgain({ store, registry, runs, sessions, bounds })
  const services = { registry, costs, runs, again, sessions, summaries, knowledge, users, logger, once, backup }
  return { services, store, registry, costs, knowledge, runs, summaries, retention, live }
}
