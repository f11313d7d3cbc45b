import type { Clock } from '../../core/time.ts'
import type { Live } from '../../service/live/live.ts'
import type { RouteDoc } from '../../wire/document/route-doc.ts'
import type { Readiness } from '../../wire/health.ts'
import type { ServerMode } from '../../wire/me.ts'

export interface ApiSettings {
  /** Without a trailing slash; `''` for `/`. */
  prefix: string
  healthPath: string
  /** A route that is off is not mounted. */
  knowledgeApi: { search: boolean; config: boolean; content: boolean; documents: boolean }
  a2aPrefix: string
  /** Time limit of a plain answer of a run; its 504 names it. */
  runTimeoutMs: number
  /** Maximum body of an import. */
  importBytes: number
  version: string
  startedAtMs: number
  /** An id of this process's life. */
  serverId: string
  live: Live
  mode: ServerMode
  /** The project's folder. */
  root: string
  /** Operators may repeat runs with edits. */
  again: boolean
  clock: Clock
  /** Whether routes that are not open need a key; for the OpenAPI document. */
  authRequired: boolean
  /** `status` other than `ready` is a 503. Must not throw. */
  readiness: () => Promise<Readiness>
  /** string */
  metrics: () => string
  /** Descriptions of routes outside `api/` (A2A). */
  extraDocs: readonly RouteDoc[]
}
