import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '../client/client.ts'
import type { KnowledgeStatus, Reindexing } from '../core/knowledge.ts'
import { createProgress, type Progress } from './progress.ts'

const askEveryMs = 200

/** Has everything embedded again, and shows on a terminal how far that is. */
export async function reindexWithProgress(
  { knowledge }: Client,
  embedder: string | undefined,
  signal: AbortSignal,
  progress: Progress | undefined = process.stderr.isTTY ? createProgress() : undefined,
): Promise<KnowledgeStatus> {
  const over = new AbortController()
  const follow = async () => {
    while (progress && !over.signal.aborted) {
      await wait(askEveryMs, undefined, { signal: over.signal }).catch(() => undefined)
      const status = await knowledge.status({ signal: over.signal }).catch(() => undefined)
      if (status?.reindexing && !over.signal.aborted) show(progress, status.reindexing)
    }
  }
  const following = follow()
  try {
    return await knowledge.reindex(embedder, { signal })
  } finally {
    over.abort()
    await following
    progress?.end()
  }
}

function show(progress: Progress, { step, done, total }: Reindexing): void {
  if (step === 'embed') progress.update(done, total, 'chunks')
  else progress.update(megabytes(done), megabytes(total), 'MB of the model')
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10
}
