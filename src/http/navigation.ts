import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a browser will show the answer to a person: it says so itself, or (an older one, or over plain HTTP to another machine) it
 * asks for HTML first. Scripts, also those of pages, and programs that take anything are none.
 */
export function isNavigation(method: string, headers: IncomingHttpHeaders): boolean {
  const mode = headers['sec-fetch-mode']
  if (mode !== undefined) return mode === 'navigate'
  return (method === 'GET' || method === 'HEAD') && prefersHtml(headers.accept ?? '')
}

function prefersHtml(accept: string): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:[,;]|$)/i.test(accept)
}
