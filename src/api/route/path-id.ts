import type { HttpRequest } from '../../http/request.ts'

/** A path parameter. Handlers look up its record before they read a body, so an unknown id is 404, not 400. */
export function pathId(request: HttpRequest, name = 'id'): string {
  return request.params[name] ?? ''
}
