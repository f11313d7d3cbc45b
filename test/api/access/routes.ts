import type { ApiSettings } from '../../../src/api/route/settings.ts'
import { apiRoutes } from '../../../src/api/routes.ts'
import type { Access } from '../../../src/core/access/scope.ts'
import { a2aRoutes } from '../../../src/protocols/a2a/a2a.ts'
import { a2aDocs } from '../../../src/protocols/a2a/docs.ts'
import type { Live } from '../../../src/service/live/live.ts'
import type { Services } from '../../../src/service/services.ts'
import type { RouteDoc } from '../../../src/wire/document/route-doc.ts'

export interface MountedRoute {
  method: string
  path: string
  scope: Access
  timeoutMs: number | undefined
  doc: RouteDoc
}

const never = () => {
  throw new Error('nothing is called')
}

/** Every route that a server with everything switched on mounts, in the order in which it does. */
export function mountedRoutes(): MountedRoute[] {
  const services = { registry: { ids: () => [] }, knowledge: {} } as unknown as Services
  const extraDocs = a2aDocs('/api/v1/a2a')
  const settings: ApiSettings = {
    prefix: '/api/v1',
    healthPath: '/health',
    knowledgeApi: { search: true, config: true, content: true, documents: true },
    a2aPrefix: '/api/v1/a2a',
    runTimeoutMs: 1000,
    importBytes: 1,
    version: '0',
    startedAtMs: 0,
    serverId: 'srv_test',
    mode: 'dev',
    root: '/project',
    again: true,
    savedTest: never,
    projectTests: { list: never, save: never, run: never },
    clock: Date.now,
    authRequired: true,
    live: {} as Live,
    readiness: never,
    metrics: never,
    extraDocs,
  }
  const others = new Map(extraDocs.map((doc) => [`${doc.method} ${doc.path}`, doc]))
  return [...apiRoutes(services, settings), ...a2aRoutes(never, '/api/v1/a2a', 1000, 1000)].map((route) => {
    const { method, path, scope, timeoutMs } = route
    const doc = 'doc' in route ? (route.doc as RouteDoc) : others.get(`${method} ${path}`)
    if (doc === undefined) throw new Error(`${method} ${path} is not documented`)
    return { method, path: path.replace(/:(\w+)/g, '{$1}'), scope, timeoutMs, doc }
  })
}
