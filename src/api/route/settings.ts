import type { Clock } from '../../core/time.ts'
import type { RouteDoc } from '../../wire/document/route-doc.ts'
import type { Readiness } from '../../wire/health.ts'

/** What the routes need to know of the server that mounts them. */
export interface ApiSettings {
  /** Without a trailing slash; `''` for `/`. */
  prefix: string
  healthPath: string
  /** Off: the route is not mounted. */
  knowledgeApi: { search: boolean; config: boolean; content: boolean; documents: boolean }
  a2aPrefix: string
  /** Time limit of a plain answer of a run, which its 504 names. */
  runTimeoutMs: number
  /** Of the body of an import. */
  importBytes: number
  version: string
  startedAtMs: number
  clock: Clock
  /** Whether routes that are not open need a key: what the document says of security. */
  authRequired: boolean
  /** `status` other than `ready` is a 503. Must not throw. */
  readiness: () => Promise<Readiness>
  /** What `/metrics` answers. */
  metrics: () => string
  /** Of routes that others mount (A2A). */
  extraDocs: readonly RouteDoc[]
}
