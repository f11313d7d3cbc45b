import type { ResolvedServerConfig } from '../config/types.ts'
import type { SessionStore } from '../core/store.ts'
import type { HttpRequest } from '../http/request.ts'
import { limitRuns } from '../service/access/run-quota.ts'
import { scopeToUser } from '../service/access/user-scope.ts'
import type { Services } from '../service/services.ts'

/**
 * The services per caller: restricted to the data of the key's user, with a limit on the caller's runs. Created at a
 * caller's first request and cached; there is one caller per key.
 */
export function servicesPerCaller(
  services: Services,
  store: SessionStore,
  { authKeys, limits }: Pick<ResolvedServerConfig, 'authKeys' | 'limits'>,
): (request: HttpRequest) => Services {
  const { concurrentRuns } = limits
  if (concurrentRuns === undefined && authKeys.every(({ userId }) => userId === undefined)) return () => services
  const perCaller = new Map<string, Services>()

  function create(userId: string | undefined): Services {
    const seen = userId === undefined ? services : scopeToUser(services, store, userId)
    return concurrentRuns === undefined ? seen : { ...seen, runs: limitRuns(seen.runs, concurrentRuns) }
  }

  return ({ caller, userId }) => {
    let own = perCaller.get(caller)
    if (own === undefined) {
      own = create(userId)
      perCaller.set(caller, own)
    }
    return own
  }
}
