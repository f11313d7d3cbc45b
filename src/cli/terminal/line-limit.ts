export interface LineLimit {
  /** Whether one more line may be printed this second; what may not is counted under its name. */
  take(name: string): boolean
  /** Tells what has been counted. */
  close(): void
}

/** So many lines a second; of what was left out the counts are told when the second is over. */
export function limitLines(perSecond: number, tell: (counts: ReadonlyMap<string, number>) => void): LineLimit {
  let left = perSecond
  let counts = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  const endSecond = () => {
    clearTimeout(timer)
    timer = undefined
    left = perSecond
    const told = counts
    counts = new Map()
    if (told.size > 0) tell(told)
  }
  return {
    take(name) {
      timer ??= setTimeout(endSecond, 1_000).unref()
      if (left > 0) {
        left--
        return true
      }
      counts.set(name, (counts.get(name) ?? 0) + 1)
      return false
    },
    close: endSecond,
  }
}
