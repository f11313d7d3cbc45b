/** What documents for clients (OpenAPI, agent cards) say of the tokens that a server takes. */
export interface TokenIssuer {
  /** Its OpenID configuration. */
  openIdUrl: string
  /** There are no keys beside tokens. */
  alone: boolean
}

export type SecurityScheme = 'bearer' | 'apiKey' | 'openId'

/** The names of the schemes by which a caller may prove who it is. */
export function schemesOf(issuer: TokenIssuer | undefined): readonly SecurityScheme[] {
  if (issuer === undefined) return ['bearer', 'apiKey']
  return issuer.alone ? ['bearer', 'openId'] : ['bearer', 'apiKey', 'openId']
}
