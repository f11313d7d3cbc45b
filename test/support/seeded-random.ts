import { onTestFailed } from 'vitest'

/**
 * The seed of the running test's random numbers. A failure says it: `TEST_SEED=<seed> vitest run <file>` repeats them. With `CI`
 * it is always the same, so that what fails there has to do with what changed; other machines try new ones.
 */
export function testSeed(): number {
  const seed = Number(process.env.TEST_SEED ?? (process.env.CI ? 1 : Math.floor(Math.random() * 2 ** 32)))
  onTestFailed(() => console.error(`Repeat it with TEST_SEED=${seed}.`))
  return seed
}

/** Numbers like those of `Math.random`, for the running test, by its seed. */
export function seededRandom(): () => number {
  let state = testSeed()
  // mulberry32
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}
