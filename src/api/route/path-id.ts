import type { HttpRequest } from '../../http/request.ts'

/** A parameter of the route's path. Handlers look up what it names before they read a body: unknown is 404, not 400. */
export function pathId(request: HttpRequest, name = 'id'): string {
  return request.params[name] ?? ''
}
