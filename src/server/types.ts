import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duration, ResolvedConfig } from '../config/types.ts'
import type { FolderOwner } from '../core/access/server-file.ts'
import type { RunRecord } from '../core/run.ts'
import type { Runnable } from '../core/runnable.ts'
import type { Bound } from '../http/listen.ts'
import type { InjectRequest, InjectResponse } from '../http/request.ts'
import type { Route } from '../http/router.ts'
import type { HostableAgent } from '../runnables/agent/host.ts'
import type { LoadFailure } from '../service/live/items.ts'
import type { Services } from '../service/services.ts'
import type { DataFolderLock } from '../store/data-folder.ts'
import type { ServerMode } from '../wire/me.ts'
import type { ConfigOnDisk } from './tests/project-tests.ts'

export interface ShutdownOptions {
  /** For active work, before it is cancelled; default 10 s. */
  deadline?: Duration
  /** Ends the wait at once. */
  signal?: AbortSignal
  /** Before that, readiness says `stopping` while requests are still answered, so that a proxy can look elsewhere; default 0. */
  drain?: Duration
}

/** For a custom health handler, and further routes. */
export interface HealthRouter {
  route(route: Pick<Route, 'handler'> & Partial<Pick<Route, 'method'>>): void
}

export interface Server {
  /** `entity`: the result of `agent`, `team` or `workflow`, or an AI SDK `Agent`. Throws for an empty or taken id. */
  registerAgent(id: string, entity: Runnable | HostableAgent): void
  /** Opens all resources and listens. Resolves when the server has been shut down; rejects if it could not start or had to stop. */
  start(): Promise<void>
  /** `start` and `ready` in one: resolves with the address. */
  listen(): Promise<Bound>
  /** The address, once it listens. */
  readonly ready: Promise<Bound>
  /** Readiness fails first, then no new work; running work gets the deadline, then is cancelled and recorded. */
  shutdown(options?: ShutdownOptions): Promise<void>
  close(options?: ShutdownOptions): Promise<void>
  /** Mounts routes and documentation again for the current agents and handlers. Active requests continue. */
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
  /** Replaces agents and knowledge sources with those of a new config. Active runs continue with the old one. */
  reload(config: ResolvedConfig): Promise<void>
  /** Tells readers of `GET /live` that a changed config can't be used. */
  reloadFailed(error: LoadFailure): void
  /** Ingests changed files of the knowledge sources and deletes documents of removed files. */
  refreshSources(): void
  /** Resolves when the knowledge sources of the config have been ingested, as far as possible. */
  ingested(): Promise<void>
  /** How many files of the knowledge sources are still to be ingested, 0 before they are counted; undefined when all are. */
  filesToCome(): number | undefined
  readonly services: Services
  /** Takes no new runs. Resolves when those under way have ended, which is at the latest when the deadline has passed. */
  finishRuns(options?: Pick<ShutdownOptions, 'deadline' | 'signal'>): Promise<void>
  /** The ids of runs and requests that have not ended. */
  underWay(): { run_ids: string[]; request_ids: string[] }
}

/** The data folder of a command that serves the folder's other commands. */
export interface OwnedFolder {
  lock: DataFolderLock
  owner: FolderOwner
}

/** Serves the folder's other commands. */
export interface CommandSocket {
  /** A free path, or the name of a pipe. */
  path: string
  /** By which the server proves itself. */
  secret: string
  /** A server wants the folder. False: this command needs it until its end. */
  onRelease(): boolean
}

/** The differences between the command line and an embedding program. */
export interface ServerPurpose {
  /**
   * All but `embedded` are the command line: it locks the data folder, writes `server.json`, looks for a free port, and refuses
   * an open bind without keys.
   */
  mode: ServerMode
  /** The data folder, when it is locked already; it is released with the server. */
  folder?: OwnedFolder | undefined
  /** In place of an address. */
  socket?: CommandSocket | undefined
  /**
   * Called once a run's end or pause is durable. Runs wait for it, so keep it fast. When set, requests are logged at
   * debug level.
   */
  onRunEnd?: ((run: RunRecord) => void) | undefined
  /** Reads the config as it is on disk, for the project's tests. Only in `dev`. */
  loadConfig?: ((signal: AbortSignal) => Promise<ConfigOnDisk>) | undefined
}
