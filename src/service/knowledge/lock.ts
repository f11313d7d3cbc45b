export interface Turn {
  key: string
  /** Counts towards the shared limit; work above the whole limit runs alone. */
  weight: number
  caller: string
}

/** Runs shared work concurrently, but one at a time per key. Exclusive work runs only while no other does. */
export interface Lock {
  shared<T>(turn: Turn, work: () => Promise<T>): Promise<T>
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

interface QueuedWork {
  weight: number
  enter: () => void
}

/** An idle caller may raise the load to this multiple of the shared limit. */
const leeway = 4

/** Callers are treated equally: one without running work goes before those that have some. */
export function createLock(atOnce: number): Lock {
  const keys = new Map<string, Promise<unknown>>()
  /** By caller; the next in turn is first. */
  const waiting = new Map<string, QueuedWork[]>()
  const atWork = new Map<string, number>()
  let running = 0
  let load = 0
  let closing: Promise<unknown> | undefined
  let drained: (() => void) | undefined

  const fits = (weight: number, isIdle: boolean) =>
    running === 0 || load + weight <= (isIdle && atWork.size > 0 ? atOnce * leeway : atOnce)

  /** The next work that fits; an idle caller is not passed over for long by busy ones. */
  const next = (): { caller: string; jobs: QueuedWork[]; job: QueuedWork } | undefined => {
    for (const [caller, jobs] of waiting) {
      const [job] = jobs
      const isIdle = !atWork.has(caller)
      if (job && fits(job.weight, isIdle)) return { caller, jobs, job }
      if (isIdle) return undefined
    }
    return undefined
  }
  const admit = () => {
    for (let found = next(); found && !closing; found = next()) {
      const { caller, jobs, job } = found
      jobs.shift()
      waiting.delete(caller)
      if (jobs.length > 0) waiting.set(caller, jobs)
      running++
      load += job.weight
      atWork.set(caller, (atWork.get(caller) ?? 0) + 1)
      job.enter()
    }
  }
  const enter = ({ weight, caller }: Turn) =>
    new Promise<void>((resolve) => {
      const jobs = waiting.get(caller) ?? []
      waiting.set(caller, jobs)
      jobs.push({ weight, enter: resolve })
      admit()
    })
  const leave = ({ weight, caller }: Turn) => {
    running--
    load -= weight
    const others = (atWork.get(caller) ?? 1) - 1
    if (others === 0) atWork.delete(caller)
    else atWork.set(caller, others)
    if (running === 0) drained?.()
    admit()
  }

  return {
    async shared(given, work) {
      const { key } = given
      const before = keys.get(key) ?? Promise.resolve()
      const turn = before
        .catch(() => undefined)
        .then(async () => {
          await enter(given)
          try {
            return await work()
          } finally {
            leave(given)
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
