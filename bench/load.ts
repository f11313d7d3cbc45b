import { setTimeout as sleep } from 'node:timers/promises'
import { Caller } from './caller.ts'
import { bodyOf, headersOf, isRight, pathOf } from './dialect.ts'
import type { Job, LoadMessage, Outcome } from './job.ts'

/* The process that makes the load. It takes one job at a time from its parent and says when the measured time begins and ends. */

let serial = 0
const tell = (message: LoadMessage) => process.send?.(message)

process.on('message', (job: Job) => {
  run(job).then(
    (outcome) => tell({ type: 'ended', outcome }),
    (error: unknown) => {
      throw error
    },
  )
})
process.on('disconnect', () => process.exit())

async function run(job: Job): Promise<Outcome> {
  const { url, others = [], ask } = job
  const connect = (index: number) => new Caller([url, ...others], pathOf(ask), index, headersOf(ask))
  const connections = Array.from({ length: job.connections }, (_, index) => connect(index))
  const tally = new Tally()
  const stopped = { value: false }
  const one = async (index: number, dueAt?: number): Promise<void> => {
    const context = job.sessions === undefined ? undefined : `${job.sessions}-${index}`
    const connection = connections[index] as Caller
    const beganAt = performance.now()
    try {
      const { status, text, ms, firstMs } = await connection.post(
        bodyOf(job.ask, `m-${process.pid}-${++serial}`, context),
      )
      const late = dueAt === undefined ? 0 : beganAt - dueAt
      if (!isRight(job.ask, status, text)) tally.wrong(`${status} ${text}`)
      tally.right(ms + late, firstMs + late)
    } catch (error) {
      tally.wrong(String(error))
      connection.close()
      connections[index] = connect(index)
    }
  }
  const working =
    job.ratePerSecond === undefined
      ? connections.map((_, index) => closed(index, job, stopped, one))
      : [open(job.ratePerSecond, connections.length, stopped, one)]
  if (job.requestsPerConnection === undefined) {
    await sleep(job.warmUpMs)
    tell({ type: 'begun' })
    tally.begin()
    await sleep(job.measureMs)
    tally.end()
    tell({ type: 'measured' })
    stopped.value = true
  } else tally.begin()
  await Promise.all(working)
  tally.end()
  for (const connection of connections) connection.close()
  return tally.outcome()
}

type One = (index: number, dueAt?: number) => Promise<void>

/** Each connection asks again as soon as it has its answer. */
async function closed(index: number, job: Job, stopped: { value: boolean }, one: One): Promise<void> {
  const { requestsPerConnection = Number.POSITIVE_INFINITY } = job
  for (let count = 0; count < requestsPerConnection && !stopped.value; count++) await one(index)
}

/** Requests fall due at an even rate, whether earlier ones have been answered or not; the wait for a connection counts. */
async function open(perSecond: number, connections: number, stopped: { value: boolean }, one: One): Promise<void> {
  const idle = Array.from({ length: connections }, (_, index) => index)
  const due: number[] = []
  const running = new Set<Promise<void>>()
  const startedAt = performance.now()
  let count = 0
  const dispatch = (): void => {
    while (due.length > 0 && idle.length > 0) {
      const index = idle.pop() as number
      const work: Promise<void> = one(index, due.shift()).then(() => {
        running.delete(work)
        idle.push(index)
        dispatch()
      })
      running.add(work)
    }
  }
  while (!stopped.value) {
    await sleep(1)
    const now = performance.now()
    for (; startedAt + (count * 1000) / perSecond <= now; count++) due.push(startedAt + (count * 1000) / perSecond)
    dispatch()
  }
  due.length = 0
  await Promise.all(running)
}

/** Counts between `begin` and `end`. */
class Tally {
  #on = false
  #begunAt = 0
  #seconds = 0
  #errors = 0
  #firstError: string | undefined
  #all: number[] = []
  #first: number[] = []

  begin(): void {
    this.#on = true
    this.#begunAt = performance.now()
  }

  end(): void {
    if (this.#on) this.#seconds = (performance.now() - this.#begunAt) / 1000
    this.#on = false
  }

  right(ms: number, firstMs: number): void {
    if (!this.#on) return
    this.#all.push(ms)
    this.#first.push(firstMs)
  }

  /** Counted in the warm-up too: none may be wrong at any time. */
  wrong(what: string): void {
    this.#errors++
    this.#firstError ??= what.slice(0, 300)
  }

  outcome(): Outcome {
    return {
      requests: this.#all.length,
      errors: this.#errors,
      firstError: this.#firstError,
      seconds: this.#seconds,
      p50Ms: percentile(this.#all, 0.5),
      p99Ms: percentile(this.#all, 0.99),
      firstP50Ms: percentile(this.#first, 0.5),
      firstP99Ms: percentile(this.#first, 0.99),
    }
  }
}

function percentile(values: number[], share: number): number {
  values.sort((a, b) => a - b)
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
}
