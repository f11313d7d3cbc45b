/** A website or a repository of the config, whose documents the server keeps up to date. */
export interface RemoteSource {
  /** `https://…`, or `git:…`. */
  url: string
  /** How many links away from the address pages are; without it and the next two, the page alone. */
  depth?: number | undefined
  sitemap?: boolean | undefined
  llmsTxt?: boolean | undefined
  /** How many pages are fetched at most. */
  limit?: number | undefined
  delayMs?: number | undefined
  /** How long after the last time it is fetched again; never without it. */
  everyMs?: number | undefined
  allowHttp: boolean
  allowPrivate: boolean
}

/** How the fetching of a source stands. */
export interface SourceStatus {
  /** Without user and password. */
  source: string
  state: 'waiting' | 'fetching' | 'ok' | 'failed'
  /** That it has brought, as of the last time. */
  documents: number
  /** That could not be fetched or read the last time. */
  failed: number
  /** Why it failed, or the first of its pages that did. */
  reason?: string | undefined
  fetched_at?: string | undefined
  next_at?: string | undefined
}

/** Whether this names a website or a repository and not a file; true also of the sources of their documents. */
export function isRemote(source: string): boolean {
  return /^(?:https?:\/\/|git:)/i.test(source)
}
