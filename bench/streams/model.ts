/*
 * What so many open streams need, from measurements at two counts: a part that is always there, and a part for each stream.
 */

/** What one count of streams was measured to need. */
export interface Measured {
  streams: number
  value: number
}

export interface Line {
  fixed: number
  each: number
}

/** The line through the smallest and the largest of them. */
export function lineThrough(measured: readonly Measured[]): Line {
  const sorted = measured.toSorted((one, other) => one.streams - other.streams)
  const [first, last] = [sorted[0], sorted.at(-1)]
  if (first === undefined || last === undefined || first.streams === last.streams)
    throw new Error('a line needs measurements at two counts')
  const each = (last.value - first.value) / (last.streams - first.streams)
  return { fixed: first.value - each * first.streams, each }
}

export function predict({ fixed, each }: Line, streams: number): number {
  return fixed + each * streams
}

/** How far a prediction is from what was measured, as a part of that. */
export function missBy(predicted: number, measured: number): number {
  return Math.abs(predicted - measured) / measured
}
