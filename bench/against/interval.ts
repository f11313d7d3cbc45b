/** The middle of some values, with the interval that has the true middle in it in 95 of 100 measurements. */
export interface Estimate {
  median: number
  low: number
  high: number
}

/** Fewer values have no interval of 95 % that rests on their order alone. */
export const fewestValues = 6

/**
 * The median and its interval between two of the values themselves, by the sign test: nothing is supposed about how they are
 * spread. Throws RangeError for fewer than `fewestValues`.
 */
export function estimateMedian(values: readonly number[]): Estimate {
  const count = values.length
  if (count < fewestValues) throw new RangeError(`An interval takes at least ${fewestValues} values.`)
  const sorted = values.toSorted((one, other) => one - other)
  const at = (place: number) => sorted[place] ?? Number.NaN
  const middle = (count - 1) / 2
  let probability = 0.5 ** count
  let below = probability
  let cut = 0
  while (2 * (below + next(probability, cut, count)) <= 0.05) {
    probability = next(probability, cut, count)
    below += probability
    cut++
  }
  return { median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, low: at(cut), high: at(count - 1 - cut) }
}

/** How likely `taken + 1` heads of `count` are, from how likely `taken` are. */
function next(probability: number, taken: number, count: number): number {
  return (probability * (count - taken)) / (taken + 1)
}
