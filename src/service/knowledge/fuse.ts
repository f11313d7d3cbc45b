import type { Ranking } from '../../core/knowledge/document-store.ts'

/** A ranking under the name that traces and runs show: `keyword`, or an embedder. */
export interface RankedList {
  name: string
  /** Its share of the fused score; default 1. Only the ratio to the other lists matters. */
  weight?: number | undefined
  ranking: Ranking
}

/** The name of the list that BM25 ranks. */
export const keywordList = 'keyword'
const rankConstant = 60

/** Reciprocal rank fusion by the weights of the lists; 1: first in every list. A single list keeps its scores. */
export function fuse(lists: readonly RankedList[]): Ranking {
  if (lists.length === 1) return lists[0]?.ranking ?? []
  const scores = new Map<number, number>()
  let highest = 0
  for (const { ranking, weight = 1 } of lists) {
    highest += weight / (rankConstant + 1)
    for (const [at, { chunk }] of ranking.entries())
      scores.set(chunk, (scores.get(chunk) ?? 0) + weight / (rankConstant + at + 1))
  }
  return [...scores]
    .map(([chunk, score]) => ({ chunk, score: score / highest }))
    .sort((one, other) => other.score - one.score || one.chunk - other.chunk)
}

/** The rank counts from 1. */
export function placeIn(
  lists: readonly RankedList[],
  name: string,
  key: number,
): { rank: number; score: number } | undefined {
  const ranking = lists.find((list) => list.name === name)?.ranking ?? []
  const at = ranking.findIndex(({ chunk }) => chunk === key)
  const entry = ranking[at]
  return entry && { rank: at + 1, score: entry.score }
}
