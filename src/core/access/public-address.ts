/** What of a request says where its client believes the server to be. */
export interface Addressed {
  readonly headers: { readonly host?: string | undefined }
  readonly secure?: boolean | undefined
}

/**
 * How clients reach the server, without a slash at its end: the configured address, else the Host that the request named, which has
 * been checked. Never the address that the server listens on: that is another one behind a proxy.
 */
export function publicAddress({ headers, secure }: Addressed, configured: string | undefined): string {
  return configured ?? `${secure === true ? 'https' : 'http'}://${headers.host ?? 'localhost'}`
}
