/** Splits a list, in order, into parts of at most `most`; a larger item is a part of its own. */
export function inParts<T>(items: readonly T[], most: number, sizeOf: (item: T) => number): T[][] {
  const parts: T[][] = []
  let part: T[] | undefined
  let size = 0
  for (const item of items) {
    const more = sizeOf(item)
    if (part === undefined || size + more > most) {
      part = []
      size = 0
      parts.push(part)
    }
    part.push(item)
    size += more
  }
  return parts
}
