import { isRemote, type RemoteSource } from '../../core/knowledge/remote-source.ts'
import { choose, duration, flag, integer, is, settings, text } from '../../schema/field.ts'

const day = 86_400_000

const remote = settings({
  /** A website or a repository: `https://…` or `git:https://…#ref:folder`. */
  url: is<string>(
    "an address like 'https://example.com/docs/' or 'git:https://example.com/repository#main'",
    (value) => typeof value === 'string' && isRemote(value),
    true,
  ),
  /** Follows links, up to so many away from the address. */
  depth: integer(0, 100).optional(),
  /** The pages of the site's sitemap. */
  sitemap: flag().optional(),
  /** The pages that the site's llms.txt links to. */
  llmsTxt: flag().optional(),
  /** How many pages are fetched at most; default 500. */
  limit: integer(1, 100_000).optional(),
  /** Between two requests; default 250 ms. */
  delay: duration(0, "a time up to '1m'", 60_000).optional(),
  /** Fetches it again so long after the last time. */
  every: duration(60_000, "a time from '1m' to '24d'", 24 * day).optional(),
  /** Allows `http:` too. */
  allowHttp: flag().default(false),
  /** Allows private and local addresses too. */
  allowPrivate: flag().default(false),
})

/** A file, folder, glob, address or repository; an object where an address needs more. */
export const knowledgeSource = choose<ReturnType<typeof text> | typeof remote>((value) =>
  typeof value === 'object' && value !== null ? remote : text(),
)

type Checked = ReturnType<(typeof knowledgeSource)['parse']>

/** Files, folders and globs, and what is elsewhere. */
export function divideSources(given: readonly Checked[]): { sources: string[]; remote: RemoteSource[] } {
  const sources: string[] = []
  const remote: RemoteSource[] = []
  for (const source of given) {
    if (typeof source !== 'string') {
      const { delay: delayMs, every: everyMs, ...rest } = source
      remote.push({ ...rest, delayMs, everyMs })
    } else if (isRemote(source)) remote.push({ url: source, allowHttp: false, allowPrivate: false })
    else sources.push(source)
  }
  return { sources, remote }
}
