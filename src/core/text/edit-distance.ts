/** Counts insertions, deletions, replacements and swaps of neighbours. */
export function editDistance(one: string, other: string): number {
  let before: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    for (let index = 1; index <= other.length; index++) {
      const same = one[row - 1] === other[index - 1]
      const least = Math.min(
        (last[index] ?? 0) + 1,
        (next[index - 1] ?? 0) + 1,
        (last[index - 1] ?? 0) + (same ? 0 : 1),
      )
      const swapped = one[row - 1] === other[index - 2] && one[row - 2] === other[index - 1]
      next.push(swapped ? Math.min(least, (before[index - 2] ?? 0) + 1) : least)
    }
    before = last
    last = next
  }
  return last[other.length] ?? 0
}
