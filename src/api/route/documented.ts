import type { Route } from '../../http/route.ts'
import type { RouteDoc } from '../../wire/document/route-doc.ts'

/** A route that carries its description, so that the two can't drift. */
export interface DocumentedRoute extends Route {
  readonly doc: RouteDoc
}

export function documented(doc: RouteDoc, handler: Route['handler']): DocumentedRoute {
  return { method: doc.method, path: doc.path, scope: doc.scope, handler, doc }
}
