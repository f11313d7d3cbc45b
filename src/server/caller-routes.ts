import type { ResolvedServerConfig } from '../config/types.ts'
import type { SessionStore } from '../core/store.ts'
import type { HttpRequest } from '../http/request.ts'
import type { Route } from '../http/route.ts'
import { limitRuns } from '../service/access/run-quota.ts'
import { scopeToUser } from '../service/access/user-scope.ts'
import type { Services } from '../service/services.ts'

/**
 * The routes that `mount` makes, each answered by those of its caller: over services that show what the caller's user may
 * see and count the caller's runs. Callers are as many as there are keys.
 */
export function routesPerCaller(
  mount: (services: Services) => Route[],
  services: Services,
  store: SessionStore,
  { authKeys, limits }: Pick<ResolvedServerConfig, 'authKeys' | 'limits'>,
): Route[] {
  const common = mount(services)
  const { concurrentRuns } = limits
  if (concurrentRuns === undefined && authKeys.every(({ userId }) => userId === undefined)) return common
  const tables = new Map<string, Route[]>()

  function tableOf({ caller, userId }: HttpRequest): Route[] {
    let table = tables.get(caller)
    if (table === undefined) {
      const seen = userId === undefined ? services : scopeToUser(services, store, userId)
      table = mount(concurrentRuns === undefined ? seen : { ...seen, runs: limitRuns(seen.runs, concurrentRuns) })
      tables.set(caller, table)
    }
    return table
  }

  return common.map((route, index) => ({
    ...route,
    handler: (request) => (tableOf(request)[index] ?? route).handler(request),
  }))
}
