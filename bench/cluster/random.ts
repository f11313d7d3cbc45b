/** Numbers like those of `Math.random`, the same for the same seed. */
export type Random = () => number

export function createRandom(seed: number): Random {
  let state = seed
  // mulberry32
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pick<T>(random: Random, all: readonly T[]): T {
  return all[Math.floor(random() * all.length)] as T
}

export function between(random: Random, least: number, most: number): number {
  return Math.round(least + random() * (most - least))
}

export function shuffle<T>(random: Random, all: readonly T[]): T[] {
  const rest = [...all]
  return all.map(() => rest.splice(Math.floor(random() * rest.length), 1)[0] as T)
}
