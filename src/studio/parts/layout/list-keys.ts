const moves: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  j: 1,
  ']': 1,
  ArrowUp: -1,
  k: -1,
  '[': -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

/** Where a key leads in a list of `count` rows; undefined for a key that moves nothing. */
export function placeAfter(key: string, place: number, count: number): number | undefined {
  const move = Object.hasOwn(moves, key) ? moves[key] : undefined
  return move === undefined ? undefined : Math.max(0, Math.min(count - 1, place + move))
}
