import { binOf, untilEnd, untilHealth, untilReady } from '../start-up.ts'
import type { Benchmark } from './row.ts'

/** The times of the table `Start`. */
export const startUpBenchmark: Benchmark = {
  name: 'start-up',
  async measure(build) {
    const milliseconds = async (name: string, value: Promise<number>) => ({ name, unit: 'ms', value: await value })
    return [
      await milliseconds('start: --help', untilEnd([binOf(build), '--help'])),
      await milliseconds('start: start, until /health', untilHealth(build)),
      await milliseconds('start: dev, until it serves', untilReady(build)),
    ]
  },
}
