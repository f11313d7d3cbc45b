import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duration, ResolvedConfig } from '../config/types.ts'
import type { RunRecord } from '../core/run.ts'
import type { Runnable } from '../core/runnable.ts'
import type { Bound } from '../http/listen.ts'
import type { InjectRequest, InjectResponse } from '../http/request.ts'
import type { Route } from '../http/router.ts'
import type { HostableAgent } from '../runnables/agent/host.ts'
import type { Services } from '../service/services.ts'

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
  registerAgent(id: string, entity: Runnable | HostableAgent): void
  /** Opens everything and listens; resolves when the server has been shut down, rejects when it could not start or go on. */
  start(): Promise<void>
  /** Opens everything and gives the address as soon as connections are accepted: `start` and `ready` in one. */
  listen(): Promise<Bound>
  /** The address, once it listens. */
  readonly ready: Promise<Bound>
  /** Readiness fails first, then no new work; running work gets the deadline, then is cancelled and recorded. */
  shutdown(options?: ShutdownOptions): Promise<void>
  /** The same as `shutdown`. */
  close(options?: ShutdownOptions): Promise<void>
  /** Mounts routes and documentation again, as agents and handlers are now. Requests that have begun go on. */
  resync(): void
  /** Where a custom handler can be attached; default path: the health path. Takes effect with the call of `route`. */
  healthRouter(path?: string): HealthRouter
  /** A request without a socket; opens the server if it is not open yet. */
  inject(request: InjectRequest): Promise<InjectResponse>
  /**
   * A request to a `node:http` server of your own, whose timeouts and limits on headers and connections are yours to set;
   * opens the server if it is not open yet.
   */
  handle(request: IncomingMessage, response: ServerResponse): void
}

export interface OpenServer extends Server {
  /** Exchanges agents and knowledge sources for those of a new config; what runs goes on with the old one. */
  reload(config: ResolvedConfig): Promise<void>
  /** Takes in what has changed among the knowledge sources, and forgets files of them that are gone. */
  refreshSources(): void
  /** Resolves when the knowledge sources that the config names have been taken in, as far as they could be. */
  ingested(): Promise<void>
  readonly services: Services
  /** The ids of runs and requests that have not ended. */
  underWay(): { run_ids: string[]; request_ids: string[] }
}

/** What differs between the command line and somebody's program. */
export interface ServerPurpose {
  /** Owns the data folder, tells of itself there, looks for a free port, refuses an open bind without keys. */
  program: boolean
  /**
   * Called once the end (or pause) of a run is durable. Runs wait for it, so keep it fast. A caller that shows runs has the
   * requests logged for debugging only.
   */
  onRunEnd?: ((run: RunRecord) => void) | undefined
}
