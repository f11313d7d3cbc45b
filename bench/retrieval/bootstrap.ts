const rounds = 4_000
const seed = 22

export interface Interval {
  mean: number
  low: number
  high: number
}

/** The mean of the values and the interval that has 95 % of the means of as many values drawn from them. */
export function bootstrap(values: readonly number[]): Interval {
  const random = seeded()
  const means = Float64Array.from({ length: rounds }, () => {
    let sum = 0
    for (let drawn = 0; drawn < values.length; drawn++) sum += values[Math.floor(random() * values.length)] as number
    return sum / values.length
  }).sort()
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return { mean, low: means[rounds * 0.025] as number, high: means[rounds * 0.975 - 1] as number }
}

/** The same numbers in every run (mulberry32). */
function seeded(): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
