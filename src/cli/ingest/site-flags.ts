import { join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { parseDuration } from '../../core/duration.ts'
import { UsageError } from '../command/exit.ts'
import { integerBetween } from '../command/flags.ts'
import { isAddress } from './paths.ts'
import type { SiteOptions } from './site.ts'

export interface SiteFlags {
  depth?: number
  sitemap?: boolean
  llmsTxt?: boolean
  limit?: number
  delay?: number
}

export function addSiteFlags(command: Command): Command {
  return command
    .option('--depth <links>', 'also ingest pages of the same site up to so many links away', integerBetween(0, 100))
    .option('--sitemap', 'ingest the pages in the sitemap of the site')
    .option('--llms-txt', 'ingest the pages in the llms.txt of the site')
    .option('--limit <pages>', 'how many pages of a site to fetch at most (default: 500)', integerBetween(1, 100_000))
    .option('--delay <time>', 'how long to wait between two pages, such as 2s (default: 250ms)', delayMs)
}

/** Undefined when addresses are single pages. Throws UsageError for flags that have nothing to crawl. */
export async function siteOptions(
  options: SiteFlags,
  paths: readonly string[],
  findDataFolder: () => Promise<string>,
): Promise<SiteOptions | undefined> {
  const { depth, sitemap, llmsTxt, limit, delay } = options
  if (depth === undefined && sitemap !== true && llmsTxt !== true) {
    if (limit === undefined && delay === undefined) return undefined
    throw new UsageError('--limit and --delay need --depth, --sitemap or --llms-txt.')
  }
  if (!paths.some(isAddress)) throw new UsageError('--depth, --sitemap and --llms-txt need an https:// address.')
  const folder = join(await findDataFolder(), 'crawls')
  return { depth, sitemap, llmsTxt, limit, delayMs: delay, folder }
}

function delayMs(text: string): number {
  const ms = parseDuration(/^\d+$/.test(text) ? Number(text) : text)
  if (ms === undefined || ms > 60_000) throw new InvalidArgumentError('It must be a time of at most 1m, such as 2s.')
  return ms
}
