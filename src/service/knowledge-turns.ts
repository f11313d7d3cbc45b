/** Lets shared work go on side by side, one at a time for each key, and exclusive work only when there is no other. */
export interface Turns {
  shared<T>(key: string, work: () => Promise<T>): Promise<T>
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

export function createTurns(atOnce: number): Turns {
  const keys = new Map<string, Promise<unknown>>()
  const waiting: (() => void)[] = []
  let running = 0
  let closing: Promise<unknown> | undefined

  const enter = async () => {
    while (running >= atOnce || closing) {
      if (closing) await closing.catch(() => undefined)
      else await new Promise<void>((resolve) => waiting.push(resolve))
    }
    running++
  }
  const leave = () => {
    running--
    for (const resume of waiting.splice(0)) resume()
  }
  const drained = async () => {
    while (running > 0) await new Promise<void>((resolve) => waiting.push(resolve))
  }

  return {
    async shared(key, work) {
      const before = keys.get(key) ?? Promise.resolve()
      const turn = before
        .catch(() => undefined)
        .then(async () => {
          await enter()
          try {
            return await work()
          } finally {
            leave()
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
      const turn = drained().then(work)
      closing = turn
      try {
        return await turn
      } finally {
        closing = undefined
        for (const resume of waiting.splice(0)) resume()
      }
    },
  }
}
