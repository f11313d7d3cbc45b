import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/* Preloaded into a server: writes its event loop delay and its peak memory to $LOOP_PROBE at each SIGUSR2. */

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
let peakRss = 0
setInterval(() => {
  peakRss = Math.max(peakRss, process.memoryUsage.rss())
}, 50).unref()
process.on('SIGUSR2', () => {
  const ms = (nanoseconds: number) => Math.round(nanoseconds / 1e5) / 10
  const figures = {
    loopP99Ms: ms(delay.percentile(99)),
    loopMaxMs: ms(delay.max),
    peakRssMb: Math.round(peakRss / 1e6),
  }
  writeFileSync(process.env.LOOP_PROBE ?? '', JSON.stringify(figures))
  delay.reset()
  peakRss = 0
})
