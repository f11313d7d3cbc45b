import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Benchmark } from './row.ts'

/** Runs of `agent()` with a model that answers at once from memory, through `createServer` and `inject`. */
export const modelBenchmark: Benchmark = {
  name: 'model',
  async measure(build) {
    const script = join(import.meta.dirname, 'model-runs.ts')
    const args = ['--no-warnings', script, join(build, 'dist/index.js')]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const figures = JSON.parse(stdout) as Record<string, number>
    return Object.entries(figures).map(([name, value]) => ({
      name: `agent() with a model, ${name}`,
      unit: 'ms',
      value,
    }))
  },
}
