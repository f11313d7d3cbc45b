import type { Ask } from './dialect.ts'
import type { Job, Outcome } from './job.ts'
import type { LoadProcess } from './load-process.ts'
import type { MeasuredProcess } from './measured-process.ts'

/** One figure of a table: one server under one load. */
export interface Cell extends Outcome {
  server: string
  connections: number
  perSecond: number
  /** Of the whole server process, all threads. */
  cpuMsPerRequest: number
  loopDelayP99Ms: number
}

export interface Target {
  name: string
  process: MeasuredProcess
  ask: Ask
}

export interface Times {
  warmUpMs: number
  measureMs: number
}

/** Puts a load on a server and measures what it costs the server. */
export async function measure(
  load: LoadProcess,
  { name, process, ask }: Target,
  job: Omit<Job, 'url' | 'ask'>,
): Promise<Cell> {
  let before = process.ask('look')
  let after = before
  const begun = () => {
    before = process.ask('start')
  }
  const measured = () => {
    after = process.ask('stop')
  }
  await before
  const outcome = await load.run({ ...job, url: process.url, ask }, begun, measured)
  const [from, to] = await Promise.all([before, after])
  const cpuMs = (to.cpuMicroseconds - from.cpuMicroseconds) / 1000
  return {
    ...outcome,
    server: name,
    connections: job.connections,
    perSecond: outcome.requests / outcome.seconds,
    cpuMsPerRequest: cpuMs / outcome.requests,
    loopDelayP99Ms: to.loopDelayP99Ms,
  }
}
