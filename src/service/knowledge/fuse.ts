import type { ChunkPlace, Ranking } from '../../core/knowledge/document-store.ts'
import type { ListPlace } from '../../core/knowledge/knowledge.ts'
import { hashedList, tokenList } from '../../core/knowledge/lists.ts'
import { isAskedTitle } from '../../core/text/asked-titles.ts'

/** A ranking under the name that traces and runs show: `keyword`, or an embedder. */
export interface RankedList {
  name: string
  ranking: Ranking
  /** Its part of the weight that its name has; default 1. */
  part?: number
}

/** What a list counts for. The words of a text say more than its hashed runs of characters, which repeat them. */
const listWeights = new Map<string, number>([[hashedList, 0.5]])
const usualWeight = 1
/** The last title above the rows of a table is its head. */
const tableHead = / \| /

/**
 * The sum of the scores of a chunk, each relative to the best of its list, by the weights of the lists; 1: first in every
 * list. Scores of one list may have any scale.
 */
export function fuse(lists: readonly RankedList[]): Ranking {
  const scores = new Map<number, number>()
  const weightOf = ({ name, part = 1 }: RankedList) => part * (listWeights.get(name) ?? usualWeight)
  const highest = lists.reduce((sum, list) => sum + weightOf(list), 0)
  for (const list of lists) {
    const best = list.ranking[0]?.score ?? 0
    if (best <= 0) continue
    for (const { chunk, score } of list.ranking)
      scores.set(chunk, (scores.get(chunk) ?? 0) + (weightOf(list) * score) / best / highest)
  }
  return [...scores]
    .map(([chunk, score]) => ({ chunk, score }))
    .sort((one, other) => other.score - one.score || one.chunk - other.chunk)
}

/** The table of tokens knows no misspelt word: it counts for the words of the query that some text has. */
export function withoutUnknown(lists: readonly RankedList[], words: ReadonlyMap<string, number>): RankedList[] {
  const known = [...words.values()].filter((chunks) => chunks > 0).length
  const part = words.size === 0 ? 1 : known / words.size
  return lists.map((list) => (list.name === tokenList ? { ...list, part } : list))
}

/** The places of a chunk in the lists that have it. */
export function placesIn(lists: readonly RankedList[], key: number): Record<string, ListPlace> {
  const places = lists.flatMap(({ name }): [string, ListPlace][] => {
    const place = placeIn(lists, name, key)
    return place ? [[name, place]] : []
  })
  return Object.fromEntries(places)
}

/** A passage whose heading is asked for, word for word, goes before all others: its score is above 1. */
export function titledFirst(
  ranking: Ranking,
  places: ReadonlyMap<number, Pick<ChunkPlace, 'headingPath'>>,
  asked: readonly string[],
): Ranking {
  return ranking
    .map(({ chunk, score }) => {
      const heading = places.get(chunk)?.headingPath.findLast((title) => !tableHead.test(title))
      return { chunk, score: heading !== undefined && isAskedTitle(asked, heading) ? 1 + score : score }
    })
    .sort((one, other) => other.score - one.score)
}

/** In the order of the scores once they are multiplied. */
export function weighed(ranking: Ranking, weights: ReadonlyMap<number, number>): Ranking {
  return ranking
    .map(({ chunk, score }) => ({ chunk, score: score * (weights.get(chunk) ?? 1) }))
    .sort((one, other) => other.score - one.score)
}

/** The rank counts from 1. */
export function placeIn(lists: readonly RankedList[], name: string, key: number): ListPlace | undefined {
  const ranking = lists.find((list) => list.name === name)?.ranking ?? []
  const at = ranking.findIndex(({ chunk }) => chunk === key)
  const entry = ranking[at]
  return entry && { rank: at + 1, score: entry.score }
}
