import type { HttpRequest } from '../../http/request.ts'
import type { Route } from '../../http/router.ts'
import type { Services } from '../../service/services.ts'
import type { Leaving } from '../leaving.ts'
import { createAgUi } from './handler.ts'

export type AgUiServices = Pick<Services, 'registry' | 'runs' | 'sessions' | 'bookmarks' | 'logger'>

export interface AgUiSettings {
  /** Of the server. */
  prefix: string
  services: (request: HttpRequest) => AgUiServices
  /** Of the server: it sees all readers of a run. */
  leaving: Leaving
  /** How many files a run may bring. */
  maxFiles: number
  /** How long a stream may be silent before its run is stopped. */
  timeoutMs?: number | undefined
}

/** The routes of AG-UI. */
export function agUiRoutes(settings: AgUiSettings): Route[] {
  const { run, thread } = createAgUi(settings)
  const path = `${settings.prefix}/ag-ui/:agent`
  return [
    { method: 'POST', path, scope: 'run', timeoutMs: settings.timeoutMs, handler: run },
    { method: 'GET', path: `${path}/threads/:thread_id`, scope: 'sessions', handler: thread },
  ]
}
