export interface FairTurns {
  /** Runs the work in turn. When `preempted` aborts, it is repeated later. Throws the signal's reason. */
  run<T>(caller: string, work: (preempted: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>
}

interface Job {
  caller: string
  stop: AbortController
  enter(): void
}

/**
 * Runs `atOnce` jobs concurrently, taking the callers in turn. A caller with several slots gives one up to a caller
 * without any that has waited `patienceMs`, and then holds one at a time until its jobs are done.
 */
export function createFairTurns({ atOnce, patienceMs }: { atOnce: number; patienceMs: number }): FairTurns {
  /** By caller; the next caller in turn is first. */
  const waiting = new Map<string, Job[]>()
  const modest = new Set<string>()
  let running: Job[] = []
  let timer: NodeJS.Timeout | undefined

  const held = (caller: string) => running.filter((job) => job.caller === caller).length

  const next = (): Job | undefined => {
    let best: { caller: string; held: number } | undefined
    for (const caller of waiting.keys()) {
      const places = held(caller)
      if ((places === 0 || !modest.has(caller)) && places < (best?.held ?? atOnce)) best = { caller, held: places }
    }
    if (best === undefined) return undefined
    const jobs = waiting.get(best.caller) ?? []
    const job = jobs.shift()
    waiting.delete(best.caller)
    if (jobs.length > 0) waiting.set(best.caller, jobs)
    return job
  }
  const admit = () => {
    while (running.length < atOnce) {
      const job = next()
      if (job === undefined) break
      running.push(job)
      job.enter()
    }
    clearTimeout(timer)
    timer = excess() === undefined ? undefined : setTimeout(preempt, patienceMs)
  }
  /** The latest job of a caller with several slots, if a caller without any waits. */
  const excess = (): Job | undefined => {
    if (![...waiting.keys()].some((caller) => held(caller) === 0)) return undefined
    return running.findLast(({ caller, stop }) => held(caller) > 1 && !stop.signal.aborted)
  }
  const preempt = () => {
    const job = excess()
    if (job === undefined) return
    modest.add(job.caller)
    job.stop.abort()
  }
  const leave = (job: Job) => {
    running = running.filter((other) => other !== job)
    if (!waiting.has(job.caller) && held(job.caller) === 0) modest.delete(job.caller)
    admit()
  }
  const enter = (caller: string, first: boolean, signal: AbortSignal) =>
    new Promise<Job>((resolve, reject) => {
      const onAbort = () => {
        const jobs = (waiting.get(caller) ?? []).filter((other) => other !== job)
        if (jobs.length > 0) waiting.set(caller, jobs)
        else waiting.delete(caller)
        admit()
        reject(signal.reason)
      }
      const job: Job = {
        caller,
        stop: new AbortController(),
        enter() {
          signal.removeEventListener('abort', onAbort)
          resolve(job)
        },
      }
      signal.addEventListener('abort', onAbort, { once: true })
      const jobs = waiting.get(caller) ?? []
      waiting.set(caller, first ? [job, ...jobs] : [...jobs, job])
      admit()
    })

  return {
    async run(caller, work, signal) {
      for (let again = false; ; again = true) {
        signal.throwIfAborted()
        const job = await enter(caller, again, signal)
        try {
          return await work(job.stop.signal)
        } catch (error) {
          if (!job.stop.signal.aborted || signal.aborted) throw error
        } finally {
          leave(job)
        }
      }
    },
  }
}
