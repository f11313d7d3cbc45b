import type { KnowledgeStatus, Reindexing } from '../../core/knowledge/knowledge.ts'
import type { ReindexEvent } from '../../wire/knowledge.ts'

/** Starts with the first requested event. Yields the latest progress, then the outcome. */
export async function* reindexEvents(
  reindex: (progress: (now: Reindexing) => void) => Promise<KnowledgeStatus>,
): AsyncGenerator<ReindexEvent> {
  let news = Promise.withResolvers<void>()
  let latest: Reindexing | undefined
  let isOver = false
  const work = reindex((now) => {
    latest = now
    news.resolve()
  }).finally(() => {
    isOver = true
    news.resolve()
  })
  // A reader that disconnects stops the reindex, so the error has no reader.
  work.catch(() => {})
  for (await news.promise; !isOver; await news.promise) {
    news = Promise.withResolvers()
    if (latest !== undefined) yield { type: 'progress', ...latest }
  }
  yield { type: 'done', status: await work }
}
