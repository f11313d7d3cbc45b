import type { RetrievalHit } from '../../core/knowledge/retrieval.ts'
import { formatDuration } from '../terminal/duration.ts'

/* Searches in few words. Apart from retrieval.ts, whose tables load a library that every start of a server would wait for. */

/** A search in short: `3 of 20 passages  12 ms`. What an older record does not say is left out. */
export function formatCounts(hits: readonly RetrievalHit[], durationMs: number | undefined): string {
  const told = hits.filter((hit) => hit.told).length
  const all = hits.length === 1 ? '1 passage' : `${hits.length} passages`
  const count = hits.some((hit) => hit.told !== undefined) ? `${told} of ${all}` : all
  return [count, ...(durationMs === undefined ? [] : [formatDuration(durationMs)])].join('  ')
}

/** A place in a list: `2 (0.81)`. */
export function formatRank({ rank, score }: { rank: number; score: number }): string {
  return `${rank} (${score.toFixed(2)})`
}
