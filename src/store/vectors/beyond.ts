/** Of a small list: a larger share of its rows. */
const smallShare = 0.3
/** Of a list that is neither small nor large. */
const usualRows = 15_000
/** Of a large list: so its index is built anew nine times while it grows to two and a half times its size, however large it is. */
const largeShare = 0.1
/** Comparing a row takes a processor of the database as long as 400 values more than it has, and so many of these take 20 ms. */
const valuesInTime = 44_000_000
const valuesOfRow = 400

/** How many rows of a list may be missing in its index, before it is built anew: a search compares them all. */
export function mostBeyond(rows: number, dimensions: number): number {
  const inTime = valuesInTime / (dimensions + valuesOfRow)
  return Math.floor(Math.min(inTime, rows * smallShare, Math.max(usualRows, rows * largeShare)))
}
