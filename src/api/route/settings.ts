import type { TokenIssuer } from '../../core/access/security-scheme.ts'
import type { Clock } from '../../core/time.ts'
import type { Live } from '../../service/live/live.ts'
import type { Services } from '../../service/services.ts'
import type { RouteDoc } from '../../wire/document/route-doc.ts'
import type { Readiness } from '../../wire/health.ts'
import type { ServerMode } from '../../wire/me.ts'
import type { KeptTestRuns, ProjectTest, SavedTest, TestEvent, TestsToRun } from '../../wire/saved-test.ts'

/** The saved tests in the project's folder. */
export interface ProjectTests {
  list(): Promise<ProjectTest[]>
  /** Writes `test/<name>.session.json`; the name is no path. Throws `conflict` if it is there. */
  save(name: string, test: SavedTest): Promise<ProjectTest>
  /** All, or those with these names. Throws `invalid_request` for an unknown name, `conflict` while tests are running. */
  run(wanted: TestsToRun, signal: AbortSignal): AsyncIterable<TestEvent>
  /** Earlier runs, newest first. */
  runs(): Promise<KeptTestRuns['runs']>
}

export interface ApiSettings {
  /** Without a trailing slash; `''` for `/`. */
  prefix: string
  healthPath: string
  /** How clients reach the server, where that is configured. */
  publicUrl?: string | undefined
  /** A route that is off is not mounted. */
  knowledgeApi: { search: boolean; config: boolean; content: boolean; documents: boolean }
  a2aPrefix: string
  /** Whether agents are served to useChat. */
  chat: boolean
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
  /** Absent where the studio is not served. */
  studioPath?: string | undefined
  /** Operators may repeat runs with edits. */
  again: boolean
  /** A session as a test, as its caller may see it. Throws `session_not_found`, and `invalid_request` for one that can't be played. */
  savedTest: (services: Services, sessionId: string) => Promise<SavedTest>
  /** Only in `dev`. */
  projectTests?: ProjectTests | undefined
  clock: Clock
  /** Whether there is a log of what was done. */
  audited: boolean
  /** Whether routes that are not open need a key; for the OpenAPI document. */
  authRequired: boolean
  /** Of tokens that are taken beside keys; for the OpenAPI document. */
  tokenIssuer?: TokenIssuer | undefined
  /** `status` other than `ready` is a 503. Must not throw. */
  readiness: () => Promise<Readiness>
  /** string */
  metrics: () => string
  /** Descriptions of routes outside `api/` (A2A). */
  extraDocs: readonly RouteDoc[]
}
