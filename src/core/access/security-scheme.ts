/** What documents for clients (OpenAPI, agent cards) say of the tokens that a server takes. */
export interface TokenIssuer {
  /** Its OpenID configuration. */
  openIdUrl: string
  /** There are no keys beside tokens. */
  alone: boolean
}

/** What a server with `auth` asks its callers for, in the words of its pages. */
export function credentialOf(issuer: TokenIssuer | undefined): string {
  if (issuer === undefined) return 'API key'
  return issuer.alone ? 'token' : 'API key or token'
}

export type SecurityScheme = 'bearer' | 'apiKey' | 'openId'

/** The names of the schemes by which a caller may prove who it is. */
export function schemesOf(issuer: TokenIssuer | undefined): readonly SecurityScheme[] {
  if (issuer === undefined) return ['bearer', 'apiKey']
  return issuer.alone ? ['bearer', 'openId'] : ['bearer', 'apiKey', 'openId']
}
