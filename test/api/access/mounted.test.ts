import { expect, test } from 'vitest'
import { resolveServer } from '../../../src/config/server-config.ts'
import { serverSettings } from '../../../src/config/settings/server.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { Kernel } from '../../../src/http/kernel.ts'
import type { Route } from '../../../src/http/router.ts'
import { protectedResource } from '../../../src/http/tokens/resource.ts'
import { createMounting, type MountingOptions } from '../../../src/server/mounting.ts'
import { mountedRoutes } from './routes.ts'

const never = () => {
  throw new Error('nothing is called')
}

/** What a server of this config with everything switched on gives to its kernel. */
function routesOfServer(): Route[] {
  const server = resolveServer(
    serverSettings.parse({ a2a: { push: { hosts: ['example.org'] } }, auth: { keys: ['k'.repeat(32)] } }),
    {},
    { purpose: 'library', root: '/project', dataFolder: '/project/.agentserve' },
    { summaryManager: never },
    never,
  )
  const routes: Route[] = []
  const options: Partial<MountingOptions> = {
    kernel: { setRoutes: (given: Iterable<Route>) => void routes.push(...given) } as unknown as Kernel,
    services: { registry: { ids: () => [] }, knowledge: {}, logger: silentLogger } as never,
    store: {} as never,
    server,
    mode: 'dev',
    root: '/project',
    projectTests: { list: never, save: never, run: never, runs: never },
    version: '0',
    folderRoutes: [],
    resource: protectedResource(
      { issuer: '', audience: [], userClaim: 'sub', scopePrefix: '', clockSkew: 0 },
      { paths: ['/mcp'] },
    ),
  }
  createMounting(options as MountingOptions).mount()
  return routes
}

test('the routes that these tests try with every caller are all that a server mounts', () => {
  const listed = new Set(mountedRoutes().map(({ method, path }) => `${method} ${path}`))
  const named = ({ method, path }: Route) =>
    `${method} ${path
      .replace('**:', ':')
      .replace(/\/:(\w+)/g, '/{$1}')
      .replaceAll('\\:', ':')}`
  // Refusals of all other paths and methods, and the studio's page at each of its addresses.
  const others = ['GET /mcp', 'DELETE /mcp']
  const missing = routesOfServer()
    .map(named)
    .filter((route) => !listed.has(route) && !others.includes(route) && !route.endsWith('/**'))
  expect(missing).toEqual([])
})
