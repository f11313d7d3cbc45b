import type { input as Input } from 'zod'
import { parseGitAddress } from '../../core/knowledge/git-address.ts'
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
}).superRefine(({ url }, context) => {
  const problem = problemOf(url)
  if (problem !== undefined) context.addIssue({ code: 'custom', path: ['url'], message: problem })
})

const plain = text().superRefine((value, context) => {
  const problem = problemOf(value)
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
})

/** Of a repository's address; it shows no password. */
function problemOf(url: string): string | undefined {
  const address = /^git:/i.test(url) ? parseGitAddress(url) : undefined
  return typeof address === 'string' ? address : undefined
}

/** A file, folder, glob, address or repository; an object where an address needs more. */
export const knowledgeSource = choose<typeof plain | typeof remote>((value) =>
  typeof value === 'object' && value !== null ? remote : plain,
)

export type KnowledgeSource = Input<typeof knowledgeSource>

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
