import type { ResolvedServerConfig } from '../config/types.ts'
import type { SessionStore } from '../core/store.ts'
import type { HttpRequest } from '../http/request.ts'
import { RunQuota } from '../service/access/run-quota.ts'
import { scopeToUser } from '../service/access/user-scope.ts'
import type { Audit } from '../service/audit/audit.ts'
import { AuditedServices } from '../service/audit/audited-services.ts'
import type { Services } from '../service/services.ts'
import { parseTraceparent, toTraceparent } from '../telemetry/trace-context.ts'

/** Callers with a token are as many as the issuer has users; the services of others are made again. */
const manyCallers = 1_000

type CallerSettings = Pick<ResolvedServerConfig, 'authKeys' | 'jwt' | 'limits'>

/**
 * The services per caller: restricted to the data of the user of its key or token, with a limit on the caller's runs.
 * Created at a caller's first request and cached. `traced`: runs record the trace of their request. `audit`: what it does
 * goes into the log.
 */
export function servicesPerCaller(
  services: Services,
  store: SessionStore,
  settings: CallerSettings,
  traced = false,
  audit?: Audit,
): (request: HttpRequest) => Services {
  const own = restricted(services, store, settings)
  const seen = traced ? (request: HttpRequest) => underTrace(own(request), request.headers.traceparent) : own
  return audit === undefined ? seen : (request) => new AuditedServices(seen(request), audit, request)
}

function restricted(
  services: Services,
  store: SessionStore,
  { authKeys, jwt, limits }: CallerSettings,
): (request: HttpRequest) => Services {
  const { concurrentRuns } = limits
  const hasUsers = jwt !== undefined || authKeys.some(({ userId }) => userId !== undefined)
  if (concurrentRuns === undefined && !hasUsers) return () => services
  const quota = concurrentRuns === undefined ? undefined : new RunQuota(concurrentRuns)
  const perCaller = new Map<string, Services>()

  function create(caller: string, userId: string | undefined): Services {
    const seen = userId === undefined ? services : scopeToUser(services, store, userId)
    return quota === undefined ? seen : { ...seen, runs: quota.limit(seen.runs, caller) }
  }

  return ({ caller, userId }) => {
    // Of one subject, one token may see the data of all users and the next one its own alone.
    const key = `${caller} ${userId === undefined ? 'all' : 'own'}`
    const own = perCaller.get(key) ?? create(caller, userId)
    perCaller.delete(key)
    perCaller.set(key, own)
    if (perCaller.size > manyCallers) perCaller.delete(perCaller.keys().next().value ?? '')
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
