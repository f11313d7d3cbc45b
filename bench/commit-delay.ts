import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What the disk of this folder takes for the smallest commit: 4 KB appended and synced, 99 of 100. */
export function commitDelayP99Ms(folder: string): number {
  const file = openSync(join(folder, 'commit-delay'), 'w')
  const page = Buffer.alloc(4096, 1)
  const delays: number[] = []
  try {
    for (let count = 0; count < 500; count++) {
      const startedAt = performance.now()
      writeSync(file, page)
      fdatasyncSync(file)
      delays.push(performance.now() - startedAt)
    }
  } finally {
    closeSync(file)
  }
  return delays.sort((a, b) => a - b)[Math.floor(delays.length * 0.99)] ?? Number.NaN
}
