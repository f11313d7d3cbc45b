import { addRoute, createRouter, findRoute, type RouterContext, routeNodeKeys } from 'rou3'
import { invalid } from '../core/error.ts'
import type { Method, Route } from './route.ts'

export interface RouteMatch {
  route: Route
  /** Still percent-encoded. */
  params: Readonly<Record<string, string>> | undefined
}

export interface RouteTable {
  find(method: string, path: string): RouteMatch | undefined
  /** What the path answers to, `HEAD` and `OPTIONS` included; empty when there is no such path. */
  allowed(path: string): string[]
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** An unchanging table. Of two routes with the same method and path, whatever their parameters are called, the later wins. */
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
