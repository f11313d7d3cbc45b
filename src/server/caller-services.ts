import type { ResolvedServerConfig } from '../config/types.ts'
import type { SessionStore } from '../core/store.ts'
import type { HttpRequest } from '../http/request.ts'
import { limitRuns } from '../service/access/run-quota.ts'
import { scopeToUser } from '../service/access/user-scope.ts'
import type { Services } from '../service/services.ts'
import { parseTraceparent, toTraceparent } from '../telemetry/trace-context.ts'

/**
 * The services per caller: restricted to the data of the key's user, with a limit on the caller's runs. Created at a
 * caller's first request and cached; there is one caller per key. `traced`: runs record the trace of their request.
 */
export function servicesPerCaller(
  services: Services,
  store: SessionStore,
  { authKeys, limits }: Pick<ResolvedServerConfig, 'authKeys' | 'limits'>,
  traced = false,
): (request: HttpRequest) => Services {
  const own = restricted(services, store, { authKeys, limits })
  return traced ? (request) => underTrace(own(request), request.headers.traceparent) : own
}

function restricted(
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

/** Runs that this request starts are part of its trace. */
function underTrace(services: Services, header: unknown): Services {
  const context = parseTraceparent(header)
  if (context === undefined) return services
  const traceparent = toTraceparent(context)
  const { runs } = services
  return {
    ...services,
    runs: { ...runs, start: (request) => runs.start({ ...request, given: { ...request.given, traceparent } }) },
  }
}
