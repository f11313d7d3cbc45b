/** What follows each other in both lists, or in one of them. */
export interface Change<T> {
  kind: 'same' | 'gone' | 'new'
  items: readonly T[]
}

interface Piece {
  kind: Change<unknown>['kind']
  count: number
  before: Piece | undefined
}

/** How far the edits of a path lead into the first list, and what they are. */
interface Path {
  at: number
  last: Piece | undefined
}

/**
 * The fewest additions and removals that make one list of the other, by the algorithm of E. W. Myers (1986); undefined when they are more
 * than `maxEdits`. The time grows with the square of their number.
 */
export function diffLists<T>(from: readonly T[], to: readonly T[], maxEdits: number): Change<T>[] | undefined {
  // By how much further they are in the first list than in the second.
  const paths = new Map<number, Path>()
  let least = Number.NEGATIVE_INFINITY
  let most = Number.POSITIVE_INFINITY
  /** Where the path ends when it goes on through what is the same. */
  const follow = (path: Path, ahead: number): boolean => {
    const start = path.at
    while (path.at < from.length && path.at - ahead < to.length && from[path.at] === to[path.at - ahead]) path.at++
    if (path.at > start) path.last = { kind: 'same', count: path.at - start, before: path.last }
    paths.set(ahead, path)
    // Beyond the end of a list there is nothing to find.
    const isAtEnd = path.at >= from.length
    const isAtOtherEnd = path.at - ahead >= to.length
    if (isAtEnd) most = Math.min(most, ahead - 1)
    if (isAtOtherEnd) least = Math.max(least, ahead + 1)
    return isAtEnd && isAtOtherEnd
  }
  const first: Path = { at: 0, last: undefined }
  if (follow(first, 0)) return changesOf(first, from, to)
  const limit = Math.min(maxEdits, from.length + to.length)
  for (let edits = 1; edits <= limit; edits++) {
    for (let ahead = Math.max(least, -edits); ahead <= Math.min(most, edits); ahead += 2) {
      const removing = paths.get(ahead - 1)
      const adding = paths.get(ahead + 1)
      paths.delete(ahead - 1)
      const added = adding !== undefined && adding.at - ahead <= to.length ? adding : undefined
      const removed = removing !== undefined && removing.at < from.length ? removing : undefined
      const path =
        added !== undefined && (removed === undefined || removed.at < added.at)
          ? withEdit(added, 'new')
          : removed === undefined
            ? undefined
            : withEdit(removed, 'gone')
      if (path === undefined) paths.delete(ahead)
      else if (follow(path, ahead)) return changesOf(path, from, to)
    }
  }
  return undefined
}

function withEdit({ at, last }: Path, kind: 'gone' | 'new'): Path {
  const joined = last?.kind === kind ? last : undefined
  const piece = { kind, count: (joined?.count ?? 0) + 1, before: joined === undefined ? last : joined.before }
  return { at: kind === 'gone' ? at + 1 : at, last: piece }
}

function changesOf<T>({ last }: Path, from: readonly T[], to: readonly T[]): Change<T>[] {
  const changes: Change<T>[] = []
  let [end, otherEnd] = [from.length, to.length]
  for (let piece = last; piece !== undefined; piece = piece.before) {
    const { kind, count } = piece
    const items = kind === 'gone' ? from.slice(end - count, end) : to.slice(otherEnd - count, otherEnd)
    if (kind !== 'new') end -= count
    if (kind !== 'gone') otherEnd -= count
    changes.unshift({ kind, items })
  }
  return changes
}
