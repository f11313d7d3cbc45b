import { toAppError } from '../../core/error.ts'
import type { KnowledgeStatus, Reindexing } from '../../core/knowledge/knowledge.ts'
import { encodeEvent } from '../../core/sse.ts'
import type { ReindexEvent } from '../../wire/knowledge.ts'

/** Starts with the first requested frame. Yields the latest progress, then the outcome. */
export async function* reindexFrames(
  reindex: (progress: (now: Reindexing) => void) => Promise<KnowledgeStatus>,
): AsyncGenerator<string> {
  let news = Promise.withResolvers<void>()
  let latest: Reindexing | undefined
  let hasBegun = false
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
  try {
    for (await news.promise; !isOver; await news.promise) {
      news = Promise.withResolvers()
      hasBegun = true
      if (latest !== undefined) yield toFrame({ type: 'progress', ...latest })
    }
    yield toFrame({ type: 'done', status: await work })
  } catch (error) {
    if (!hasBegun) throw error
    const { code, message } = toAppError(error)
    yield toFrame({ type: 'error', error: { code, message } })
    if (code === 'internal') throw error
  }
}

function toFrame(event: ReindexEvent): string {
  return encodeEvent({ event: event.type, data: event })
}
