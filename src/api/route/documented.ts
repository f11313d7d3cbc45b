import type { Access } from '../../core/access/scope.ts'
import type { Reply } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { Route } from '../../http/router.ts'
import type { Services } from '../../service/services.ts'
import type { RouteDoc } from '../../wire/document/route-doc.ts'

/** The services with the rights of a request's caller. */
export type ServicesOf = (request: HttpRequest) => Services

export type Handler = (request: HttpRequest, services: Services) => Promise<Reply> | Reply

/** A route with its description, so that the two can't drift. */
export interface DocumentedRoute extends Omit<Route, 'handler'> {
  readonly doc: RouteDoc
  readonly handler: Handler
}

export interface RouteSettings
  extends Omit<RouteDoc, 'method' | 'path' | 'operationId' | 'tag'>,
    Pick<Route, 'timeoutMs' | 'takesLong' | 'maxBodyBytes'> {
  handle: Handler
}

type Describe<S> = (method: RouteDoc['method'], path: string, operationId: string, settings: S) => DocumentedRoute

/** Describes the routes of one topic; each names its scope unless `routesAbout` sets one for all. */
export function routesAbout(tag: string): Describe<RouteSettings>
export function routesAbout(tag: string, scope: Access): Describe<Omit<RouteSettings, 'scope'>>
export function routesAbout(tag: string, scope?: Access): Describe<RouteSettings> {
  return (method, path, operationId, { handle, timeoutMs, takesLong, maxBodyBytes, ...rest }) => {
    const doc: RouteDoc = { method, path, operationId, tag, ...rest, scope: scope ?? rest.scope }
    return { method, path, scope: doc.scope, timeoutMs, takesLong, maxBodyBytes, handler: handle, doc }
  }
}

/** The kernel's route: each request is answered with its caller's services. */
export function bindRoute({ handler, ...route }: DocumentedRoute, servicesOf: ServicesOf): Route {
  return { ...route, handler: (request) => handler(request, servicesOf(request)) }
}
