import type { JWTPayload } from 'jose'
import { AppError, isAppError } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time.ts'
import type { Caller } from '../security/auth.ts'
import { callerOf } from './claims.ts'
import { IssuerKeys, type KeysState } from './issuer-keys.ts'
import { type ProtectedResource, protectedResource, type ResourceOptions } from './resource.ts'
import type { TokenSettings } from './settings.ts'

/** `isGuess`: the issuer has not made it, so it counts like a wrong key. */
export type Verified = { caller: Caller } | { refused: AppError; isGuess: boolean }

export interface TokensOptions {
  clock: Clock
  logger: Logger
  resource?: ResourceOptions | undefined
}

/** Checks JSON Web Tokens (RFC 7519) of one OpenID Connect provider. */
export interface Tokens {
  /** What clients are told of how to get a token. */
  readonly resource: ProtectedResource
  /** Begins to read the issuer's keys, without waiting for them. */
  open(): void
  close(): Promise<void>
  /** Whether the issuer's keys are known. */
  state(): KeysState
  /** Whether the text has the form of a signed token, whatever is in it. */
  isToken(text: string): boolean
  /** Throws `unavailable` as long as the issuer's keys are not known. */
  verify(token: string): Promise<Verified>
}

/** Asymmetric alone: the issuer publishes the keys, so a secret one would be no secret (RFC 8725, 3.1). */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
/** RFC 9068 for access tokens; others, such as those of logouts, are for something else (RFC 8725, 3.11). */
const types: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/jwt', 'application/at+jwt']
const longestToken = 8 * 1024
const form = /^[\w-]+\.[\w-]+\.[\w-]*$/

export function createTokens(settings: TokenSettings, { clock, logger, resource }: TokensOptions): Tokens {
  const keys = new IssuerKeys(settings.issuer, clock, logger)
  const skewSeconds = settings.clockSkew / 1000

  async function payloadOf(token: string): Promise<JWTPayload> {
    const { jwtVerify } = await import('jose/jwt/verify')
    const { payload, protectedHeader } = await jwtVerify(
      token,
      async (header) => {
        const key = await keys.find(header)
        if (key === undefined) throw new Refusal('no key of the issuer is the one that it names', true)
        return key
      },
      {
        algorithms,
        issuer: settings.issuer,
        audience: [...settings.audience],
        requiredClaims: ['exp'],
        clockTolerance: skewSeconds,
        currentDate: new Date(clock()),
      },
    )
    const typ: unknown = protectedHeader.typ
    if (!types.includes(typeof typ === 'string' ? typ.toLowerCase() : typ))
      throw new Refusal('its type (typ) is not that of an access token')
    if ((payload.iat ?? 0) > clock() / 1000 + skewSeconds) throw new Refusal('it was issued in the future (iat)')
    // RFC 9449, 7.2: a token that is bound to a key of its client is no bearer token.
    if (payload.cnf !== undefined)
      throw new Refusal('it is bound to a key of its client (cnf), so it is no bearer token')
    return payload
  }

  return {
    resource: protectedResource(settings, resource),
    open: () => keys.open(),
    close: () => keys.close(),
    state: () => keys.state,
    isToken: (text) => form.test(text),
    async verify(token) {
      if (token.length > longestToken)
        return refusalOf(new Refusal(`it has more than ${longestToken} characters`, true))
      try {
        return { caller: callerOf(await payloadOf(token), settings) }
      } catch (error) {
        if (!isAppError(error)) return refusalOf(error instanceof Refusal ? error : refusalBy(error))
        if (error.code === 'unavailable') throw error
        return { refused: error, isGuess: false }
      }
    },
  }
}

/** Why a token is not valid, in words that have nothing of it. */
class Refusal extends Error {
  readonly isGuess: boolean

  constructor(problem: string, isGuess = false) {
    super(problem)
    this.isGuess = isGuess
  }
}

function refusalOf({ message, isGuess }: Refusal): Verified {
  const words = `The token is not valid: ${message}. Send a valid one as 'Authorization: Bearer …'.`
  return { refused: new AppError('unauthorized', words), isGuess }
}

/** What jose says. Claims are only looked at once the signature is right. */
function refusalBy(error: unknown): Refusal {
  const { code, claim, reason } = error as { code?: string; claim?: string; reason?: string }
  if (code === 'ERR_JWT_EXPIRED') return new Refusal('it has expired (exp)')
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED') {
    if (reason === 'missing') return new Refusal(`it has no claim '${claim}'`)
    if (claim === 'nbf' && reason === 'check_failed') return new Refusal('it is not valid yet (nbf)')
    if (claim === 'iss') return new Refusal('it is of another issuer (iss)')
    if (claim === 'aud') return new Refusal('it is for another audience (aud)')
    return new Refusal(`its claim '${claim}' can't be used`)
  }
  if (code === 'ERR_JOSE_ALG_NOT_ALLOWED')
    return new Refusal('it is not signed by an algorithm that is allowed (alg)', true)
  if (code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') return new Refusal('its signature is wrong', true)
  if (code?.startsWith('ERR_J') === true) return new Refusal('it is broken', true)
  throw error
}
