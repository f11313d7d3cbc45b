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

/** How each page is written below the studio's path, the longest way first. `:name` stands for a part of the address. */
const routes: readonly (readonly [page: Address['page'], pattern: string])[] = [
  ['chats', '/s/:sessionId/r/:runId/e/:seq'],
  ['chats', '/s/:sessionId/r/:runId'],
  ['chats', '/s/:sessionId'],
  ['chats', '/new'],
  ['chats', ''],
  ['file', '/file/r/:runId/e/:seq'],
  ['file', '/file/r/:runId'],
  ['file', '/file'],
  ['run', '/r/:runId'],
  ['member', '/member/:runId'],
  ['search', '/search'],
  ['knowledge', '/knowledge/d/:documentId/c/:chunkId'],
  ['knowledge', '/knowledge/d/:documentId'],
  ['knowledge', '/knowledge'],
  ['agents', '/agents/:agentId'],
  ['agents', '/agents'],
  ['diff', '/diff/:runA/:runB'],
  ['again', '/again/:runId'],
  ['tests', '/tests/:name'],
  ['tests', '/tests'],
  ['watch', '/watch'],
]
const part = /:(\w+)/g

/** `path` is below the studio's own, `search` as in a URL. */
export function readAddress(path: string, search: string): Address {
  for (const [page, pattern] of routes) {
    const found = new RegExp(`^${pattern.replaceAll(part, '(?<$1>[^/]+)')}/?$`).exec(path)
    if (found === null) continue
    try {
      const parts = Object.entries(found.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)])
      const { seq, ...ids } = Object.fromEntries(parts)
      if (seq !== undefined && countIn(seq) === undefined) break
      const isNew = pattern === '/new' ? true : undefined
      return given({ page, ...ids, isNew, ...readQuery(page, new URLSearchParams(search), countIn(seq)) })
    } catch {
      // It ends within a character.
      break
    }
  }
  return { page: 'unknown' }
}

/** What is not in the path. */
function readQuery(page: Address['page'], query: URLSearchParams, seq: number | undefined): object {
  switch (page) {
    case 'chats':
      return { filter: readFilter(query), ...readStep(query, seq) }
    case 'file':
      return readStep(query, seq)
    case 'search':
      return { text: query.get('q') ?? '' }
    case 'knowledge':
      return { query: readAsked(query) }
    case 'again': {
      const tries = (query.get('try') ?? '').split(',').filter((id) => id !== '')
      return { from: countIn(query.get('from')), tries: tries.slice(0, mostTries) }
    }
    default:
      return {}
  }
}

function readStep(query: URLSearchParams, seq: number | undefined): object {
  // The run inside, if the step is one of its own.
  const inside = query.get('run') || undefined
  return seq === undefined ? {} : { seq, inside, view: views.find((one) => one === query.get('view')) }
}

/** With a leading slash, or `''`. */
export function writeAddress(address: Address): string {
  const parts: Readonly<Record<string, unknown>> = { ...address }
  const path = routes
    .filter(([page, pattern]) => page === address.page && (pattern !== '/new' || parts.isNew === true))
    .map(([, pattern]) =>
      pattern.replaceAll(part, (all, name) => (parts[name] === undefined ? all : encodeURIComponent(`${parts[name]}`))),
    )
    .find((one) => !one.includes(':'))
  const query = Object.entries(given(queryOf(address))).map(([name, value]): [string, string] => [name, String(value)])
  const search = new URLSearchParams(query)
  return `${path ?? ''}${search.size === 0 ? '' : `?${search}`}`
}

function queryOf(address: Address): object {
  switch (address.page) {
    case 'chats':
    case 'file': {
      const { seq, inside, view } = address
      return { ...('filter' in address && address.filter), ...(seq !== undefined && { run: inside, view }) }
    }
    case 'search':
      return { q: address.text || undefined }
    case 'knowledge':
      return { ...address.query }
    case 'again':
      return { from: address.from, try: address.tries.join() || undefined }
    default:
      return {}
  }
}

function readFilter(query: URLSearchParams): Filter {
  const { agent, status, before = '' } = textsOf(query)
  const isDay = /^\d{4}-\d\d-\d\d$/.test(before) && !Number.isNaN(Date.parse(before))
  return given({ agent, status, before: isDay ? before : undefined })
}

function readAsked(query: URLSearchParams): Asked {
  const { q, mode, limit, filters, collection } = textsOf(query)
  return { q, mode, limit: countIn(limit), filters, collection }
}

/** Without those that are undefined. */
export function given<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}

/** Those that are not empty. */
function textsOf(query: URLSearchParams): Partial<Record<string, string>> {
  return Object.fromEntries([...query].filter(([, value]) => value.trim() !== ''))
}

function countIn(text: string | null | undefined): number | undefined {
  const count = Number(text)
  return Number.isInteger(count) && count > 0 ? count : undefined
}
