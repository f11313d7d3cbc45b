import { routeNodeKeys } from 'rou3'
import type { Route } from './router.ts'

/** Routes whose paths come from one setting, or from none that can be changed. */
export interface RouteGroup<R = Pick<Route, 'method' | 'path'>> {
  setting: string
  routes: readonly R[]
}

/** In place of a setting, for paths that no setting changes. */
export const fixedPath = 'a path that is always there'

/** Two groups of routes that would serve the same request. */
export interface Meeting {
  settings: [string, string]
  /** As the routes write them; the same path, or two that one request can match. */
  paths: [string, string]
}

interface Place {
  setting: string
  method: string
  path: string
  keys: string[]
}

/**
 * The first two routes of different groups that meet: at the same path, whatever their methods, since a path is one resource;
 * or where a name in one path stands in the place of a parameter of the other, and both answer the same method, since that one
 * value of the parameter could not be reached. What answers only where nothing else does (`/**`) meets nothing.
 */
export function findMeeting(groups: readonly RouteGroup[]): Meeting | undefined {
  const places: Place[] = []
  for (const { setting, routes } of groups) {
    for (const { method, path } of routes) {
      if (path.endsWith('/**')) continue
      const place = { setting, method, path, keys: keysOf(path) }
      const other = places.find((earlier) => earlier.setting !== setting && meet(earlier, place))
      if (other !== undefined) return { settings: [other.setting, setting], paths: [other.path, path] }
      places.push(place)
    }
  }
  return undefined
}

const parameter = ':'
const rest = '**'

/** The parts of a path, with one name for all parameters. */
function keysOf(path: string): string[] {
  return (routeNodeKeys(path)[0] ?? path)
    .split('/')
    .map((key) => (key.startsWith(parameter) ? parameter : key.replaceAll('\\', '')))
}

function meet(one: Place, other: Place): boolean {
  const length = Math.max(one.keys.length, other.keys.length)
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.keys[at], other.keys[at]]
    if (a === b) continue
    if (one.method !== other.method || a === undefined || b === undefined) return false
    if (a === rest || b === rest) return true
    if (a !== parameter && b !== parameter) return false
  }
  return true
}
