/**
 * Approximate length of a value's JSON; stops above `most`, which it may exceed by one text. Not recursive, because the
 * value may be very deep or cyclic: each value counts.
 */
export function jsonSize(root: unknown, most: number): number {
  if (root === null || root === undefined) return 0
  if (typeof root === 'string') return root.length
  let size = 0
  const waiting = [root]
  while (waiting.length > 0 && size < most) {
    const value = waiting.pop()
    if (typeof value === 'string') size += value.length
    else if (Array.isArray(value)) {
      size += 2
      for (const child of value) waiting.push(child)
    } else if (typeof value === 'object' && value !== null) {
      size += 2
      for (const [key, child] of Object.entries(value)) {
        size += key.length
        waiting.push(child)
      }
    } else size += 8
  }
  return size
}

/** Whether a value has more than `most` levels of lists and objects. Not recursive either. */
export function isDeeper(value: unknown, most: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = []
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue
      if (depth === most) return true
      for (const child of Array.isArray(one) ? one : Object.values(one)) {
        if (typeof child === 'object' && child !== null) next.push(child)
      }
    }
    level = next
  }
  return false
}
