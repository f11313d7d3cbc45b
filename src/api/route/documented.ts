import type { Reply } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { Route } from '../../http/router.ts'
import type { Services } from '../../service/services.ts'
import type { RouteDoc } from '../../wire/document/route-doc.ts'

/** The services as the caller of a request may use them. */
export type ServicesOf = (request: HttpRequest) => Services

export type Handler = (request: HttpRequest, services: Services) => Promise<Reply> | Reply

/** A route with its description, so that the two can't drift. */
export interface DocumentedRoute extends Omit<Route, 'handler'> {
  readonly doc: RouteDoc
  readonly handler: Handler
}

export function documented(
  doc: RouteDoc,
  handler: Handler,
  limits: Pick<Route, 'timeoutMs' | 'takesLong' | 'maxBodyBytes'> = {},
): DocumentedRoute {
  return { method: doc.method, path: doc.path, scope: doc.scope, ...limits, handler, doc }
}

/** The same route for the kernel: each request is answered with the services of its caller. */
export function bindRoute({ handler, ...route }: DocumentedRoute, servicesOf: ServicesOf): Route {
  return { ...route, handler: (request) => handler(request, servicesOf(request)) }
}
