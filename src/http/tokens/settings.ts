/** How the tokens of one issuer are read; `server.auth.jwt`. */
export interface TokenSettings {
  issuer: string
  /** A token must be for one of these. */
  audience: readonly string[]
  userClaim: string
  /** Undefined: every token has the scopes of a user. */
  scopeClaim?: string | undefined
  scopePrefix: string
  operatorScope?: string | undefined
  allUsersScope?: string | undefined
  /** How far the clocks may differ, in milliseconds. */
  clockSkew: number
}
