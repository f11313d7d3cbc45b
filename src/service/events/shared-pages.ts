import type { RunEvent } from '../../core/event.ts'
import type { RunHead } from '../../core/run.ts'

export type EventPage = readonly RunEvent[]
type ReadPage = (run: Pick<RunHead, 'run_id' | 'end_seq'>, after: number, limit: number) => Promise<EventPage>

/** Pages of text, each some tens of kilobytes. */
const keptPages = 64

/**
 * Pages of runs that are not under way, for a crowd of readers who begin at once and go on at their own pace: a page that
 * is being read, or has been lately, is not read again.
 */
export function sharePages(read: (runId: string, after: number, limit: number) => Promise<EventPage>): ReadPage {
  const pages = new Map<string, Promise<EventPage>>()

  async function keep(key: string, reading: Promise<EventPage>): Promise<void> {
    const page = await reading.catch(() => [])
    // Of other events nobody knows the size.
    if (page.length === 0 || !page.every((event) => event.type === 'text_delta')) pages.delete(key)
    const [oldest] = pages.keys()
    if (pages.size > keptPages && oldest !== undefined) pages.delete(oldest)
  }

  return ({ run_id: runId, end_seq: end }, after, limit) => {
    // A run that was resumed meanwhile has another end.
    const key = `${runId} ${end} ${after} ${limit}`
    let page = pages.get(key)
    if (page === undefined) {
      page = read(runId, after, limit)
      pages.set(key, page)
      void keep(key, page)
    }
    return page
  }
}
