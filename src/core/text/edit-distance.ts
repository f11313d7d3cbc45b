/** Insertions, deletions, replacements and swaps of neighbours that make one of the other. */
export function editDistance(one: string, other: string): number {
  let before: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    for (let at = 1; at <= other.length; at++) {
      const same = one[row - 1] === other[at - 1]
      const least = Math.min((last[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1, (last[at - 1] ?? 0) + (same ? 0 : 1))
      const swapped = one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1]
      next.push(swapped ? Math.min(least, (before[at - 2] ?? 0) + 1) : least)
    }
    before = last
    last = next
  }
  return last[other.length] ?? 0
}
