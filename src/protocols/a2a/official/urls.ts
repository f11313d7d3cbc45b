import { publicAddress } from '../../../core/access/public-address.ts'
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

export function urlsFor(request: HttpRequest, { a2aPrefix, prefix, publicUrl }: UrlSettings): Urls {
  const base = publicAddress(request, publicUrl)
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
