import type { Filters } from '../../core/knowledge/filter.ts'
/** What the page shows; every address below the studio's path stands for one. */
export type Address =
  | {
      page: 'chats'
      isNew?: true
      sessionId?: string | undefined
      runId?: string | undefined
      seq?: number | undefined
      inside?: string | undefined
      view?: View | undefined
      filter: Filter
    }
  /** A session in a file: which one, no address can say. */
  | {
      page: 'file'
      runId?: string | undefined
      seq?: number | undefined
      inside?: string | undefined
      view?: View | undefined
    }
  | { page: 'run'; runId: string }
  /** A run, mostly one inside another, as a conversation. */
  | { page: 'member'; runId: string }
  | { page: 'search'; text: string }
  | { page: 'knowledge'; query: Asked; documentId?: string | undefined; chunkId?: string | undefined }
  | { page: 'agents'; agentId?: string | undefined }
  | { page: 'diff'; runA: string; runB: string }
  /** `tries`: the runs that repeat it, beside it. */
  | { page: 'again'; runId: string; from?: number | undefined; tries: readonly string[] }
  | { page: 'tests'; name?: string | undefined }
  /** What the saves of files change. */
  | { page: 'watch' }
  | { page: 'unknown' }

export const views = ['prompt', 'passages', 'tools', 'gave', 'settings', 'raw'] as const
/** A tab of the inspector. */
export type View = (typeof views)[number]

export interface Filter {
  agent?: string | undefined
  status?: string | undefined
  /** A day, as `2026-11-23`: sessions that have not changed since. */
  before?: string | undefined
}

/** A search in the knowledge base, as its fields are filled in. */
export interface Asked {
  q?: string | undefined
  mode?: string | undefined
  limit?: number | undefined
  /** An object as JSON. */
  filters?: string | undefined
  /** Also of the documents that are listed. */
  collection?: string | undefined
}

/** As many as the server starts at once. */
export const mostTries = 5

/** `path` is below the studio's own, `search` as in a URL. */
export function readAddress(path: string, search: string): Address {
  const parts = path.split('/').filter((part) => part !== '')
  const decoded = parts.map(decode)
  if (decoded.includes(undefined)) return { page: 'unknown' }
  const [first, ...rest] = decoded as string[]
  const query = new URLSearchParams(search)
  switch (first) {
    case undefined:
      return { page: 'chats', filter: readFilter(query) }
    case 's':
      return readChat(rest, query)
    case 'file': {
      const read = readChat([first, ...rest], query)
      return read.page === 'chats' ? { ...withoutSession(read), page: 'file' } : read
    }
    case 'new':
      return rest.length === 0 ? { page: 'chats', isNew: true, filter: readFilter(query) } : { page: 'unknown' }
    case 'r':
    case 'member':
      return rest.length === 1 && rest[0] !== undefined
        ? { page: first === 'r' ? 'run' : first, runId: rest[0] }
        : { page: 'unknown' }
    case 'diff': {
      const [runA, runB, ...more] = rest
      const isWhole = runA !== undefined && runB !== undefined && more.length === 0
      return isWhole ? { page: 'diff', runA, runB } : { page: 'unknown' }
    }
    case 'again':
      return rest.length === 1 && rest[0] !== undefined ? readAgain(rest[0], query) : { page: 'unknown' }
    case 'search':
      return rest.length === 0 ? { page: 'search', text: query.get('q') ?? '' } : { page: 'unknown' }
    case 'knowledge':
      return readKnowledge(rest, query)
    case 'agents':
      return rest.length > 1 ? { page: 'unknown' } : { page: 'agents', agentId: rest[0] }
    case 'watch':
      return { page: rest.length === 0 ? 'watch' : 'unknown' }
    case 'tests':
      return rest.length > 1 ? { page: 'unknown' } : { page: 'tests', name: rest[0] }
    default:
      return { page: 'unknown' }
  }
}

function readChat([sessionId, second, runId, third, seq, ...more]: string[], query: URLSearchParams): Address {
  const filter = readFilter(query)
  if (sessionId === undefined || more.length > 0) return { page: 'unknown' }
  if (second === undefined) return { page: 'chats', sessionId, filter }
  if (second !== 'r' || runId === undefined) return { page: 'unknown' }
  if (third === undefined) return { page: 'chats', sessionId, runId, filter }
  if (third !== 'e' || !/^\d{1,15}$/.test(seq ?? '')) return { page: 'unknown' }
  const view = views.find((one) => one === query.get('view'))
  // The run inside, if the step is one of its own.
  const inside = query.get('run') || undefined
  return given({ page: 'chats', sessionId, runId, seq: Number(seq), inside, view, filter })
}

function readAgain(runId: string, query: URLSearchParams): Address {
  const from = Number(query.get('from'))
  const tries = (query.get('try') ?? '').split(',').filter((id) => id !== '')
  return { page: 'again', runId, from: isCount(from) ? from : undefined, tries: tries.slice(0, mostTries) }
}

/** A place in a conversation. */
export function withoutSession({
  page: _page,
  sessionId: _id,
  filter: _filter,
  isNew: _new,
  ...place
}: Extract<Address, { page: 'chats' }>) {
  return place
}

function readKnowledge([first, documentId, second, chunkId, ...more]: string[], search: URLSearchParams): Address {
  const query = readAsked(search)
  if (first === undefined) return { page: 'knowledge', query }
  if (first !== 'd' || documentId === undefined || more.length > 0) return { page: 'unknown' }
  if (second === undefined) return { page: 'knowledge', query, documentId }
  if (second !== 'c' || chunkId === undefined) return { page: 'unknown' }
  return { page: 'knowledge', query, documentId, chunkId }
}

/** With a leading slash, or `''`. */
export function writeAddress(address: Address): string {
  const { path, query } = placeOf(address)
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  const below = path.map((part) => `/${encodeURIComponent(part)}`).join('')
  return search.size === 0 ? below : `${below}?${search}`
}

interface Place {
  path: readonly string[]
  query: Readonly<Record<string, string | number | undefined>>
}

function placeOf(address: Address): Place {
  switch (address.page) {
    case 'run':
      return { path: ['r', address.runId], query: {} }
    case 'member':
      return { path: ['member', address.runId], query: {} }
    case 'search':
      return { path: ['search'], query: { q: address.text || undefined } }
    case 'agents':
      return { path: address.agentId === undefined ? ['agents'] : ['agents', address.agentId], query: {} }
    case 'tests':
      return { path: address.name === undefined ? ['tests'] : ['tests', address.name], query: {} }
    case 'knowledge': {
      const { documentId, chunkId } = address
      const path = ['knowledge', ...(documentId === undefined ? [] : ['d', documentId])]
      return { path: chunkId === undefined ? path : [...path, 'c', chunkId], query: { ...address.query } }
    }
    case 'diff':
      return { path: ['diff', address.runA, address.runB], query: {} }
    case 'again': {
      const { runId, from, tries } = address
      return { path: ['again', runId], query: { from, try: tries.join() || undefined } }
    }
    case 'file': {
      const { path, query } = placeOf({ ...address, page: 'chats', sessionId: '', filter: {} })
      return { path: ['file', ...path.slice(2)], query }
    }
    case 'watch':
      return { path: ['watch'], query: {} }
    case 'unknown':
      return { path: [], query: {} }
    case 'chats': {
      const { sessionId, runId, seq, inside, view, filter } = address
      const path = address.isNew === true ? ['new'] : []
      if (sessionId !== undefined) path.push('s', sessionId)
      if (sessionId !== undefined && runId !== undefined) {
        path.push('r', runId)
        if (seq !== undefined) path.push('e', String(seq))
      }
      return { path, query: { ...filter, ...(seq !== undefined && { run: inside, view }) } }
    }
  }
}

function readFilter(query: URLSearchParams): Filter {
  const { agent, status, before = '' } = textsOf(query)
  const isDay = /^\d{4}-\d\d-\d\d$/.test(before) && !Number.isNaN(Date.parse(before))
  return given({ agent, status, before: isDay ? before : undefined })
}

function readAsked(query: URLSearchParams): Asked {
  const { q, mode, limit, filters, collection } = textsOf(query)
  return { q, mode, limit: isCount(Number(limit)) ? Number(limit) : undefined, filters, collection }
}

/** Without those that are undefined. */
export function given<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}

/** Those that are not empty. */
function textsOf(query: URLSearchParams): Partial<Record<string, string>> {
  return Object.fromEntries([...query].filter(([, value]) => value !== ''))
}

function isCount(number: number): boolean {
  return Number.isInteger(number) && number > 0
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** A text says what is wrong with them. */
export function readFilters(text: string | undefined): Filters | undefined | string {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Filters
  } catch {
    // Said below.
  }
  return 'Filters must be an object in JSON, such as {"topic": "office"}.'
}
