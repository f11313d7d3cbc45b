import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/*
 * Loaded into every server that is measured (`--import`), the bare ones included. It answers each message of its parent with
 * what the process has cost so far; `start` and `stop` switch the watch over the event loop, so that nothing runs between
 * measurements. A server ends with its parent.
 */

/** What a process has used, all its threads together, and what its main thread made others wait. */
export interface ProbeAnswer {
  cpuMicroseconds: number
  rssBytes: number
  /** After a collection, when `heap` was asked for; else 0. */
  heapBytes: number
  /** Since `start`. */
  loopDelayP99Ms: number
}
export type ProbeRequest = 'start' | 'stop' | 'look' | 'heap'

const resolutionMs = 5
const delays = monitorEventLoopDelay({ resolution: resolutionMs })

process.on('message', (request: ProbeRequest) => {
  const { user, system } = process.cpuUsage()
  const answer: ProbeAnswer = {
    cpuMicroseconds: user + system,
    rssBytes: process.memoryUsage.rss(),
    heapBytes: request === 'heap' ? collectedHeap() : 0,
    // The histogram holds the time between two ticks of its timer.
    loopDelayP99Ms: Math.max(0, delays.percentile(99) / 1e6 - resolutionMs),
  }
  if (request === 'start') {
    delays.reset()
    delays.enable()
  }
  if (request === 'stop') delays.disable()
  process.send?.(answer)
})
process.channel?.unref()
// Its parent is gone: nobody else ends it.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))

function collectedHeap(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  return process.memoryUsage().heapUsed
}
