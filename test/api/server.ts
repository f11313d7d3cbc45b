import type { ApiSettings } from '../../src/api/route/settings.ts'
import { apiRoutes } from '../../src/api/routes.ts'
import type { Knowledge } from '../../src/core/knowledge/knowledge.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Runnable } from '../../src/core/runnable.ts'
import type { Summarizer } from '../../src/core/summary.ts'
import type { InjectResponse } from '../../src/http/request.ts'
import { systemTimers } from '../../src/runtime/timers.ts'
import { savedTestOf } from '../../src/server/tests/saved-test-of.ts'
import { createFacts } from '../../src/service/access/facts.ts'
import { createUsers } from '../../src/service/access/user-data.ts'
import { unaudited } from '../../src/service/audit/audit.ts'
import { createBookmarks } from '../../src/service/bookmarks.ts'
import { createOnce } from '../../src/service/idempotency.ts'
import { watchStore } from '../../src/service/live/changes.ts'
import { headsOf } from '../../src/service/live/heads.ts'
import { createLive } from '../../src/service/live/live.ts'
import { ScheduleService } from '../../src/service/schedules/schedules.ts'
import type { Services } from '../../src/service/services.ts'
import { createSummaries } from '../../src/service/sessions/summaries.ts'
import { createBackups } from '../../src/store/backup/archive.ts'
import { memoryStore } from '../../src/store/sessions/memory/store.ts'
import { createKernel } from '../support/kernel.ts'
import { openServices } from '../support/services.ts'

export interface TestServerOptions {
  entities?: Record<string, Runnable>
  knowledge?: Knowledge
  summarizer?: Summarizer
  requestTimeoutMs?: number
  settings?: Partial<ApiSettings>
}

export interface Answer {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by tests, field by field
  body: any
}

export const jsonType = { 'content-type': 'application/json' }

/** The REST routes over real services and a memory store, through the kernel without a socket. */
export async function openTestServer(options: TestServerOptions = {}) {
  const requestTimeoutMs = options.requestTimeoutMs ?? 30_000
  const watched = watchStore(memoryStore())
  const { store, registry, costs, runs, again, keep, sessions } = await openServices(
    options.entities ?? {},
    watched.store,
    requestTimeoutMs,
  )
  const shared = { store, clock: Date.now, logger: silentLogger }
  const summaries = createSummaries({ ...shared, summarizer: options.summarizer, timeoutMs: 1000 })
  const once = createOnce(store, Date.now, silentLogger)
  const services: Services = {
    registry,
    bookmarks: createBookmarks(store, Date.now),
    costs,
    runs,
    again,
    keep,
    sessions,
    summaries,
    facts: createFacts(store),
    schedules: new ScheduleService([], { ...shared, runs: () => runs, timers: systemTimers }),
    knowledge: options.knowledge,
    once,
    users: createUsers({ store, sessions, runs, clock: Date.now }),
    backup: createBackups({ folder: '', databases: [], version: '1.2.3', clock: Date.now }),
    ...unaudited,
    logger: silentLogger,
  }
  const live = createLive({
    serverId: 'srv_test',
    changes: watched.changes,
    heads: headsOf(store),
    runs,
    timers: systemTimers,
    clock: Date.now,
  })
  const settings: ApiSettings = {
    prefix: '/api/v1',
    healthPath: '/health',
    knowledgeApi: { search: true, config: true, content: true, documents: true },
    a2aPrefix: '/api/v1/a2a',
    chat: true,
    runTimeoutMs: requestTimeoutMs,
    version: '1.2.3',
    startedAtMs: Date.now(),
    serverId: 'srv_test',
    mode: 'dev',
    root: '/project',
    again: true,
    audited: true,
    savedTest: savedTestOf,
    clock: Date.now,
    live,
    authRequired: false,
    importBytes: 2 * 1024 ** 3,
    readiness: async () => ({ status: 'ready', checks: { storage: 'ok', knowledge: 'off' } }),
    metrics: () => '',
    extraDocs: [],
    ...options.settings,
  }
  const kernel = createKernel({ requestTimeoutMs })
  kernel.setRoutes(apiRoutes(services, settings))

  async function call(
    method: string,
    url: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const raw = typeof body === 'string' || body instanceof Uint8Array
    const response = await kernel.inject({
      method,
      url,
      body: body === undefined ? undefined : raw ? body : JSON.stringify(body),
      headers: body === undefined || raw ? headers : { ...jsonType, ...headers },
    })
    return { status: response.status, headers: response.headers, body: await readBody(response) }
  }

  return {
    kernel,
    services,
    settings,
    store,
    call,
    async close() {
      live.close()
      await runs.shutdown(0)
      await summaries.close()
      await kernel.close({ deadlineMs: 0 })
      await store.close()
    },
  }
}

export type TestServer = Awaited<ReturnType<typeof openTestServer>>

async function readBody(response: InjectResponse): Promise<unknown> {
  const text = await response.text()
  return response.headers['content-type']?.startsWith('application/json') ? JSON.parse(text) : text
}

/** The frames of an event stream, as they were sent. */
export function framesOf(stream: string): { id: string; event: string; data: Record<string, unknown> }[] {
  return stream
    .split('\n\n')
    .filter((frame) => frame !== '' && !frame.startsWith(':'))
    .map((frame) => {
      const fields = Object.fromEntries(frame.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]))
      return { id: fields.id ?? '', event: fields.event ?? '', data: JSON.parse(fields.data ?? 'null') }
    })
}
