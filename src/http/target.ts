import { invalid } from '../core/error.ts'

export interface Target {
  path: string
  /** With its `?`, or empty. */
  search: string
}

/**
 * Splits a request target (RFC 9112 3.2). The absolute form must name the host of the Host header, or what was checked
 * would not be what was asked for.
 */
export function parseTarget(target: string, host: string | undefined): Target {
  if (target.charCodeAt(0) === 0x2f) return split(target)
  if (target === '*') return { path: '*', search: '' }
  const match = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target)
  if (match === null) throw invalid('The request target is neither a path nor an http URL.')
  if (match[1]?.toLowerCase() !== host?.toLowerCase()) {
    throw invalid('The request target and the Host header name different hosts.')
  }
  const rest = match[2] ?? ''
  return split(rest.startsWith('/') ? rest : `/${rest}`)
}

function split(target: string): Target {
  const mark = target.indexOf('?')
  return mark === -1 ? { path: target, search: '' } : { path: target.slice(0, mark), search: target.slice(mark) }
}
