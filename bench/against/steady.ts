const compared = 3
const tolerance = 0.03

/** Whether the last three rounds cost the same, within 3 %. */
export function isSteady(rounds: readonly number[]): boolean {
  const last = rounds.slice(-compared)
  return last.length === compared && Math.max(...last) <= (1 + tolerance) * Math.min(...last)
}

/** The middle value; of an even number, the upper of both. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN
}
