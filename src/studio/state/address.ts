/** What the page shows; every address below the studio's path stands for one. */
export type Address =
  | { page: 'chats'; sessionId?: string; runId?: string; seq?: number; view?: View; filter: Filter }
  | { page: 'run'; runId: string }
  | { page: 'unknown' }

export const views = ['prompt', 'passages', 'tools', 'gave', 'settings', 'raw'] as const
/** A tab of the inspector. */
export type View = (typeof views)[number]

export interface Filter {
  agent?: string
  status?: string
}

/** `path` is below the studio's own, `search` as in a URL. */
export function readAddress(path: string, search: string): Address {
  const parts = path.split('/').filter((part) => part !== '')
  const decoded = parts.map(decode)
  if (decoded.includes(undefined)) return { page: 'unknown' }
  const [first, sessionId, second, runId, third, seq, ...more] = decoded as string[]
  const query = new URLSearchParams(search)
  const filter = readFilter(query)
  if (first === undefined) return { page: 'chats', filter }
  if (first === 'r' && sessionId !== undefined && second === undefined) return { page: 'run', runId: sessionId }
  if (first !== 's' || sessionId === undefined || more.length > 0) return { page: 'unknown' }
  if (second === undefined) return { page: 'chats', sessionId, filter }
  if (second !== 'r' || runId === undefined) return { page: 'unknown' }
  if (third === undefined) return { page: 'chats', sessionId, runId, filter }
  if (third !== 'e' || !/^\d{1,15}$/.test(seq ?? '')) return { page: 'unknown' }
  const view = views.find((one) => one === query.get('view'))
  return { page: 'chats', sessionId, runId, seq: Number(seq), ...(view !== undefined && { view }), filter }
}

/** With a leading slash, or `''`. */
export function writeAddress(address: Address): string {
  if (address.page === 'run') return `/r/${encodeURIComponent(address.runId)}`
  if (address.page === 'unknown') return ''
  const { sessionId, runId, seq, view, filter } = address
  let path = ''
  if (sessionId !== undefined) path += `/s/${encodeURIComponent(sessionId)}`
  if (sessionId !== undefined && runId !== undefined) {
    path += `/r/${encodeURIComponent(runId)}`
    if (seq !== undefined) path += `/e/${seq}`
  }
  const query = new URLSearchParams()
  if (filter.agent !== undefined) query.set('agent', filter.agent)
  if (filter.status !== undefined) query.set('status', filter.status)
  if (seq !== undefined && view !== undefined) query.set('view', view)
  return query.size === 0 ? path : `${path}?${query}`
}

function readFilter(query: URLSearchParams): Filter {
  const agent = query.get('agent')
  const status = query.get('status')
  return { ...(agent && { agent }), ...(status && { status }) }
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
