import type { RunEvent } from '../../core/event.ts'
import type { RunHead } from '../../core/run.ts'

export type EventPage = readonly RunEvent[]
type ReadPage = (run: Pick<RunHead, 'run_id' | 'end_seq'>, after: number, limit: number) => Promise<EventPage>

/** Number of cached pages; each has some tens of kilobytes. */
const keptPages = 64

/** Pages of runs that are not live, cached and shared by readers. */
export function sharePages(read: (runId: string, after: number, limit: number) => Promise<EventPage>): ReadPage {
  const pages = new Map<string, Promise<EventPage>>()

  async function keep(key: string, reading: Promise<EventPage>): Promise<void> {
    const page = await reading.catch(() => [])
    // The size of other events is unknown.
    if (page.length === 0 || !page.every((event) => event.type === 'text_delta')) pages.delete(key)
    const [oldest] = pages.keys()
    if (pages.size > keptPages && oldest !== undefined) pages.delete(oldest)
  }

  return ({ run_id: runId, end_seq: end }, after, limit) => {
    // It still grows.
    if (end === null) return read(runId, after, limit)
    // A resumed run has another end.
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
