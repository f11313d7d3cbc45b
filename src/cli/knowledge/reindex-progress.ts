import type { Client } from '../../client/client.ts'
import type { KnowledgeStatus, Reindexing } from '../../core/knowledge/knowledge.ts'
import { createProgress, type Progress } from '../terminal/progress.ts'

/** Embeds all chunks again and shows the progress on a terminal. */
export async function reindexWithProgress(
  { knowledge }: Client,
  embedder: string | undefined,
  signal: AbortSignal,
): Promise<KnowledgeStatus> {
  const progress = process.stderr.isTTY ? createProgress() : undefined
  try {
    return await knowledge.reindex(embedder, { signal, onProgress: progress && ((now) => show(progress, now)) })
  } finally {
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
