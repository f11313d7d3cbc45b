import { tokenPrefix } from '../core/access/token-caller.ts'
import { AppError, invalid } from '../core/error.ts'
import { refuseAnnouncedSize } from './body/body.ts'
import type { Exchange } from './exchange.ts'
import type { KernelSettings } from './options.ts'
import { createRateLimit } from './rate-limit.ts'
import type { Reply } from './reply.ts'
import { decodeParams, parseTarget, type RouteMatch, type RouteTable } from './router.ts'
import { bearerOf, type Caller, createAuthenticator, credentialOf, presentsKey, unauthorized } from './security/auth.ts'
import { createCors } from './security/cors.ts'
import { createHostCheck } from './security/host.ts'
import { changesState, checkOrigin } from './security/origin.ts'
import { proofHeaders } from './security/proof.ts'
import { assertScopes } from './security/scope.ts'
import type { WrongKeys } from './security/wrong-keys.ts'
import type { Tokens } from './tokens/tokens.ts'

/**
 * Everything decided about a request before its handler runs. Finds the route and fills the exchange. Gives a reply
 * when no handler is needed (preflight, OPTIONS), undefined otherwise. Throws AppErrors. A promise for a request with a
 * token alone: keys are compared at once.
 */
export type Admit = (exchange: Exchange, table: RouteTable) => Reply | undefined | Promise<Reply | undefined>

const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export function createAdmit(settings: KernelSettings, wrongKeys: WrongKeys): Admit {
  const { authKeys, tokens } = settings
  const isProtected = authKeys.length > 0 || tokens !== undefined
  const taken = credentialOf(authKeys, tokens !== undefined)
  const authenticator = createAuthenticator(authKeys)
  const limitRate = createRateLimit(settings)
  const cors = createCors(settings)
  const checkHost = createHostCheck({ ...settings, authenticated: isProtected })
  const identify = (exchange: Exchange): Caller | Promise<Caller> | undefined => {
    if (!isProtected) return undefined
    const { headers, remoteAddress } = exchange
    const caller = authenticator.identify(headers)
    if (caller !== undefined) return caller
    const token = tokens && bearerOf(headers)
    if (token !== undefined && tokens?.isToken(token) === true) return verified(tokens, token, exchange)
    wrongKeys.refuse(remoteAddress, presentsKey(headers))
    throw unauthorized(headers, taken, tokens?.resource.challenge(exchange, bearerOf(headers) !== undefined))
  }
  const verified = async (tokens: Tokens, token: string, exchange: Exchange): Promise<Caller> => {
    const found = await tokens.verify(token)
    if ('caller' in found) return found.caller
    if (found.isGuess) wrongKeys.refuse(exchange.remoteAddress, true)
    const { code, message } = found.refused
    const { resource } = tokens
    const challenge = code === 'forbidden' ? resource.challengeFor(exchange, 'any') : resource.challenge(exchange, true)
    throw new AppError(code, message, { challenge })
  }
  const enter = (
    exchange: Exchange,
    table: RouteTable,
    match: RouteMatch | undefined,
    caller: Caller | undefined,
  ): Reply | undefined => {
    if (caller !== undefined) {
      exchange.caller = caller.caller
      exchange.userId = caller.userId
      exchange.scopes = caller.scopes
    }
    limitRate?.(exchange)
    if (match !== undefined && exchange.scopes !== undefined) {
      const { scope } = match.route
      const resource = caller?.caller.startsWith(tokenPrefix) === true ? tokens?.resource : undefined
      assertScopes(exchange.scopes, scope, resource && (() => resource.challengeFor(exchange, scope)))
    }
    return arrive(exchange, table, match)
  }
  const arrive = (exchange: Exchange, table: RouteTable, match: RouteMatch | undefined): Reply | undefined => {
    if (match === undefined) return withoutRoute(exchange, table)
    if (match.params !== undefined) exchange.params = decodeParams(match.params)
    refuseAnnouncedSize(exchange.incoming, exchange.bodySize)
    return undefined
  }
  return (exchange, table) => {
    const { incoming, headers, method } = exchange
    const { origin } = headers
    exchange.commonHeaders = cors.headersFor(origin)
    const { path, search } = parseTarget(incoming.url ?? '/', headers.host)
    exchange.path = path
    exchange.search = search
    const match = table.find(method, path)
    exchange.route = match?.route
    checkHeaders(incoming.rawHeaders, settings.maxHeaders)
    checkHost(headers.host)
    if (settings.proof?.path === path) exchange.commonHeaders = [...exchange.commonHeaders, ...proofHeaders(exchange)]
    if (method === 'OPTIONS' && origin !== undefined && headers['access-control-request-method'] !== undefined) {
      const known = allowedMethods(table, path)
      return {
        status: 204,
        headers: cors.preflightHeaders(
          origin,
          known.length === 0 ? everyMethod : known,
          headers['access-control-request-headers'],
        ),
      }
    }
    const open = isOpen(exchange, table)
    if (changesState(method)) {
      // `*` trusts no page: a page still needs a key, which is checked next.
      const hasKey = !open && isProtected && presentsKey(headers)
      checkOrigin(headers, hasKey ? cors.isAllowed : cors.isListed)
    }
    if (open) return arrive(exchange, table, match)
    const caller = identify(exchange)
    if (caller instanceof Promise) return caller.then((known) => enter(exchange, table, match, known))
    return enter(exchange, table, match, caller)
  }
}

/** node keeps the first of two Host headers and drops headers above its limit, so both are checked here. */
function checkHeaders(rawHeaders: readonly string[], maxHeaders: number): void {
  if (rawHeaders.length > maxHeaders * 2) {
    throw new AppError('headers_too_large', `The request has more than ${maxHeaders} headers.`)
  }
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts !== 1) throw invalid('The request must have exactly one valid Host header.')
}

/** OPTIONS and refused methods reveal no more about an open path than its route does. */
function isOpen({ route, path, method }: Exchange, table: RouteTable): boolean {
  if (route !== undefined) return route.scope === 'open'
  return method === 'OPTIONS' && table.find('GET', path)?.route.scope === 'open'
}

function withoutRoute({ method, path }: Exchange, table: RouteTable): Reply {
  const allow = allowedMethods(table, path)
  if (allow.length === 0) throw new AppError('route_not_found', `There is no route '${path}'.`)
  if (method === 'OPTIONS') return { status: 204, headers: { Allow: allow.join(', ') } }
  throw new AppError('method_not_allowed', `'${path}' does not allow ${method}. Allowed: ${allow.join(', ')}.`, {
    allow,
  })
}

function allowedMethods(table: RouteTable, path: string): readonly string[] {
  return path === '*' ? everyMethod : table.allowed(path)
}
