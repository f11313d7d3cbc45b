import { PerformanceObserver } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { DenseMap } from '../src/runtime/dense-map.ts'

/*
 * What a map costs whose entries come and go, as those of requests do: `--map` measures a `Map`, without it a `DenseMap`;
 * `--active` entries at a time. CPU time counts; run it several times in turns.
 */

const { values: options } = parseArgs({
  options: { map: { type: 'boolean', default: false }, active: { type: 'string', default: '256' } },
})
const active = Number(options.active)
const turnovers = 600_000
const map = options.map ? new Map<number, unknown>() : new DenseMap<number, unknown>()

let gcMs = 0
const observer = new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) gcMs += duration
})
observer.observe({ entryTypes: ['gc'] })
const before = process.cpuUsage()
for (let index = 0; index < turnovers; index++) {
  map.set(index, entry(index))
  map.delete(index - active)
  if (index % 2_000 === 0) await new Promise((resolve) => setImmediate(resolve))
}
await new Promise((resolve) => setImmediate(resolve))
observer.disconnect()
const { user, system } = process.cpuUsage(before)
console.log(
  `${options.map ? 'Map' : 'DenseMap'}: ${Math.round((user + system) / 1000)} ms of CPU, ${Math.round(gcMs)} ms of GC`,
)

function entry(index: number): unknown {
  return {
    headers: Array.from({ length: 30 }, (_, header) => `x-${index}-${header}`),
    objects: Array.from({ length: 20 }, (_, object) => ({ object, index })),
  }
}
