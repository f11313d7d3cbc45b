import { onTestFailed } from 'vitest'

/**
 * Numbers like those of `Math.random`, for the running test. A failure says the seed that repeats them:
 * `TEST_SEED=<seed> vitest run <file>`.
 */
export function seededRandom(): () => number {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
  onTestFailed(() => console.error(`Repeat it with TEST_SEED=${seed}.`))
  let state = seed
  // mulberry32
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}
