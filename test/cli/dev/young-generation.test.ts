import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const moduleUrl = new URL('../../../src/cli/dev/young-generation.ts', import.meta.url).href

/** How large the space for new objects becomes, in MB, in a process that may give it 64 and keeps much of what it makes. */
async function largestSpace(prelude: string): Promise<number> {
  const code = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { setImmediate as yieldToLoop } from 'node:timers/promises'
    ${prelude}
    let kept = []
    let largest = 0
    for (let turn = 0; turn < 300; turn++) {
      if (kept.length > 200_000) kept = []
      for (let at = 0; at < 10_000; at++) kept.push({ at, both: [turn, at] })
      await yieldToLoop()
      const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
      largest = Math.max(largest, space.space_size)
    }
    console.log(largest / 2 ** 20)`
  const args = ['--no-warnings', '--max-semi-space-size=32', '--input-type=module', '-e', code]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return Number(stdout)
}

it('does not let the space for new objects grow beyond 32 MB', async () => {
  expect(await largestSpace('')).toBeGreaterThan(40)
  const limited = await largestSpace(`
    import { limitYoungGeneration } from ${JSON.stringify(moduleUrl)}
    limitYoungGeneration()`)
  expect(limited).toBeLessThanOrEqual(33)
  expect(limited).toBeGreaterThan(8)
})
