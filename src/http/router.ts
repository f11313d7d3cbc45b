import { addRoute, createRouter, findRoute, type RouterContext, routeNodeKeys } from 'rou3'
import type { Access } from '../core/access/scope.ts'
import { type AppError, invalid } from '../core/error.ts'
import type { Reply } from './reply.ts'
import type { HttpRequest } from './request.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface RouteAccess {
  /** Who may call the route if keys are configured; `'open'` for health, `/` and the docs page. */
  scope: Access
  /** Maximum bytes of the body; default: the server's `maxRequestSize`. */
  maxBodyBytes?: number | undefined
  /** Time limit of a plain answer; default: the server's `requestTimeout`. */
  timeoutMs?: number | undefined
  /** `requestTimeout` does not apply to this route. */
  takesLong?: boolean | undefined
}

/** One route. Parameters in `path` are `:name`. The kernel handles `HEAD`, `OPTIONS` and the trailing slash. */
export interface Route extends RouteAccess {
  method: Method
  path: string
  handler: (request: HttpRequest) => Promise<Reply> | Reply
  /** Makes the error reply of this route, for example for JSON-RPC. Default: the common error body. */
  onError?: ((error: AppError, request: HttpRequest) => Reply) | undefined
}

/** The kernel, or another framework through an adapter. */
export interface Router {
  route(route: Route): void
}

export interface RouteMatch {
  route: Route
  /** Still percent-encoded. */
  params: Readonly<Record<string, string>> | undefined
}

export interface RouteTable {
  find(method: string, path: string): RouteMatch | undefined
  /** The methods of the path, including `HEAD` and `OPTIONS`; empty for an unknown path. */
  allowed(path: string): string[]
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** An immutable table. Of two routes with the same method and path (ignoring parameter names), the later one wins. */
export function createRouteTable(routes: Iterable<Route>): RouteTable {
  const chosen = new Map<string, Route>()
  for (const route of routes) chosen.set(`${route.method} ${routeNodeKeys(route.path).join(' ')}`, route)
  const context: RouterContext<Route> = createRouter<Route>()
  for (const route of chosen.values()) addRoute(context, route.method, route.path, route)
  const find = (method: string, path: string): RouteMatch | undefined => {
    const match = findRoute(context, method, path)
    return match === undefined ? undefined : { route: match.data, params: match.params }
  }
  return {
    find: (method, path) => find(method, path) ?? (method === 'HEAD' ? find('GET', path) : undefined),
    allowed(path) {
      const found: string[] = methods.filter((method) => find(method, path) !== undefined)
      if (found.includes('GET')) found.splice(1, 0, 'HEAD')
      return found.length === 0 ? found : [...found, 'OPTIONS']
    },
  }
}

/** Percent-decodes each parameter; a broken encoding is `invalid_request`. */
export function decodeParams(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  let decoded: Record<string, string> | undefined
  for (const name in params) {
    const value = params[name]
    if (value === undefined || !value.includes('%')) continue
    decoded ??= { ...params }
    try {
      decoded[name] = decodeURIComponent(value)
    } catch {
      throw invalid(`The path has a broken percent-encoding in '${name}'.`, name)
    }
  }
  return decoded ?? params
}

export interface Target {
  path: string
  /** With its `?`, or empty. */
  search: string
}

/** RFC 9112 3.2. The absolute form must name the Host header's host: only that was checked. */
export function parseTarget(target: string, host: string | undefined): Target {
  if (target.charCodeAt(0) === 0x2f) return split(target)
  if (target === '*') return { path: '*', search: '' }
  const match = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target)
  if (match === null) throw invalid('The request target is neither a path nor an http URL.')
  if (match[1]?.toLowerCase() !== host?.toLowerCase()) {
    throw invalid('The request target and the Host header name different hosts.')
  }
  const rest = match[2] ?? ''
  return split(rest.startsWith('/') ? rest : `/${rest}`)
}

function split(target: string): Target {
  const mark = target.indexOf('?')
  return mark === -1 ? { path: target, search: '' } : { path: target.slice(0, mark), search: target.slice(mark) }
}
