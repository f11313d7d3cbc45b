import type { HttpRequest } from '../../../http/request.ts'

/** Absolute addresses, which cards need. */
export interface Urls {
  /** The endpoint of an agent. */
  agent(id: string): string
  card(id: string): string
  file(sessionId: string, fileId: string): string
}

export interface UrlSettings {
  /** Of the A2A interface. */
  a2aPrefix: string
  /** Of the REST API. */
  prefix: string
  /** How clients reach the server. */
  publicUrl?: string | undefined
}

/**
 * From the configured address, else from the Host that the request named, which has been checked. Never from the address that the server
 * listens on: that is another one behind a proxy.
 */
export function urlsFor(request: HttpRequest, { a2aPrefix, prefix, publicUrl }: UrlSettings): Urls {
  const base = publicUrl ?? `${request.secure ? 'https' : 'http'}://${request.headers.host ?? 'localhost'}`
  const agent = (id: string) => `${base}${a2aPrefix}/agents/${encodeURIComponent(id)}`
  return {
    agent,
    card: (id) => `${agent(id)}/.well-known/agent-card.json`,
    file: fileAddress(base, prefix),
  }
}

/** Of the files of sessions. */
export function fileAddress(base: string, prefix: string): Urls['file'] {
  return (sessionId, fileId) =>
    `${base}${prefix}/sessions/${encodeURIComponent(sessionId)}/files/${encodeURIComponent(fileId)}`
}
