/** Lets shared work go on side by side, one at a time for each key, and exclusive work only when there is no other. */
export interface Turns {
  /** `weight` counts towards what may go on at once; work that is heavier than all of it goes alone. */
  shared<T>(key: string, weight: number, work: () => Promise<T>): Promise<T>
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

export function createTurns(atOnce: number): Turns {
  const keys = new Map<string, Promise<unknown>>()
  const waiting: { weight: number; enter: () => void }[] = []
  let running = 0
  let load = 0
  let closing: Promise<unknown> | undefined
  let drained: (() => void) | undefined

  const admit = () => {
    for (
      let next = waiting[0];
      next && !closing && (running === 0 || load + next.weight <= atOnce);
      next = waiting[0]
    ) {
      waiting.shift()
      running++
      load += next.weight
      next.enter()
    }
  }
  const enter = (weight: number) =>
    new Promise<void>((resolve) => {
      waiting.push({ weight, enter: resolve })
      admit()
    })
  const leave = (weight: number) => {
    running--
    load -= weight
    if (running === 0) drained?.()
    admit()
  }

  return {
    async shared(key, weight, work) {
      const before = keys.get(key) ?? Promise.resolve()
      const turn = before
        .catch(() => undefined)
        .then(async () => {
          await enter(weight)
          try {
            return await work()
          } finally {
            leave(weight)
          }
        })
      keys.set(key, turn)
      try {
        return await turn
      } finally {
        if (keys.get(key) === turn) keys.delete(key)
      }
    },
    async exclusive(work) {
      while (closing) await closing.catch(() => undefined)
      const empty = running === 0 ? Promise.resolve() : new Promise<void>((resolve) => (drained = resolve))
      const turn = empty.then(work)
      closing = turn
      try {
        return await turn
      } finally {
        drained = undefined
        closing = undefined
        admit()
      }
    },
  }
}
