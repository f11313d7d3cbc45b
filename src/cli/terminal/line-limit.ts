export interface LineLimit {
  /** Whether one more line may be printed this second; otherwise it is counted under `name`. */
  take(name: string): boolean
  close(): void
}

/** Limits the lines per second; the counts of omitted lines are reported when the second is over. */
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
