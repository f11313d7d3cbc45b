const wordSeed = 0x811c9dc5
const gramSeed = 0x9dc5811c
const prime = 0x01000193

/** The word itself (without place), then its runs of 3 to 5 characters with their place between the word's ends, which count as spaces. */
export function eachFeature(
  word: string,
  visit: (hash: number, from: number, length: number | undefined) => void,
): void {
  let whole = wordSeed
  for (let at = 0; at < word.length; at++) whole = Math.imul(whole ^ word.charCodeAt(at), prime)
  visit(mixed(whole), 0, undefined)
  const padded = ` ${word} `
  for (let from = 0; from + 3 <= padded.length; from++) {
    let hash = gramSeed
    const end = Math.min(padded.length, from + 5)
    for (let at = from; at < end; at++) {
      hash = Math.imul(hash ^ padded.charCodeAt(at), prime)
      if (at >= from + 2) visit(mixed(hash), from, at - from + 1)
    }
  }
}

function mixed(hash: number): number {
  let value = hash ^ (hash >>> 16)
  value = Math.imul(value, 0x45d9f3b)
  return (value ^ (value >>> 15)) >>> 0
}

/** Counts the features of texts, one text after the other. */
export interface FeatureCounter {
  /** Visits each feature of these words once. */
  count(words: readonly string[], visit: (hash: number, count: number) => void): void
}

const poolSize = 1 << 20

/**
 * Remembers the features of words, most of which come again and again, and counts in one open-addressed table that stays
 * in the processor's cache. The loops keep to local names and typed arrays: all of embedding is in them.
 */
export function createFeatureCounter(): FeatureCounter {
  /** Hash and count of each slot, beside each other; the slots that are taken. */
  let slots = new Uint32Array(1 << 13)
  let used = new Uint32Array(slots.length / 4)
  let usedCount = 0
  /** Of each word: how often it came in the text at hand, how many features it has, the features. */
  let pool = new Uint32Array(0)
  let pooled = 0
  const places = new Map<string, number>()

  const remember = (word: string): number => {
    if (pool.length === 0) pool = new Uint32Array(poolSize)
    const start = pooled
    pooled += 2
    eachFeature(word, (hash) => {
      pool[pooled++] = hash
    })
    pool[start] = 0
    pool[start + 1] = pooled - start - 2
    places.set(word, start)
    return start
  }

  /** Makes room, between two texts, for all that the words of the next may bring. */
  const reserve = (words: readonly string[]) => {
    let longest = 0
    for (const word of words) longest += 3 * word.length + 4
    if (pooled + longest <= pool.length) return
    places.clear()
    pooled = 0
    if (longest > pool.length) pool = new Uint32Array(Math.max(longest, poolSize))
  }

  const tally = (start: number) => {
    const features = pool
    const times = features[start] as number
    const end = start + 2 + (features[start + 1] as number)
    features[start] = 0
    while (usedCount + end - start > used.length) grow()
    const table = slots
    const mask = table.length - 2
    let taken = usedCount
    for (let at = start + 2; at < end; at++) {
      const hash = features[at] as number
      const slot = slotOf(table, mask, hash)
      const counted = table[slot + 1] as number
      if (counted === 0) {
        table[slot] = hash
        used[taken++] = slot
      }
      table[slot + 1] = counted + times
    }
    usedCount = taken
  }

  const grow = () => {
    const before = slots
    slots = new Uint32Array(before.length * 4)
    const moved = new Uint32Array(slots.length / 4)
    for (let at = 0; at < usedCount; at++) {
      const from = used[at] as number
      const slot = slotOf(slots, slots.length - 2, before[from] as number)
      slots[slot] = before[from] as number
      slots[slot + 1] = before[from + 1] as number
      moved[at] = slot
    }
    used = moved
  }

  return {
    count(words, visit) {
      reserve(words)
      const starts: number[] = []
      for (const word of words) {
        const start = places.get(word) ?? remember(word)
        const times = pool[start] as number
        if (times === 0) starts.push(start)
        pool[start] = times + 1
      }
      for (const start of starts) tally(start)
      for (let at = 0; at < usedCount; at++) {
        const slot = used[at] as number
        visit(slots[slot] as number, slots[slot + 1] as number)
        slots[slot + 1] = 0
      }
      usedCount = 0
    },
  }
}

/** The slot that holds the hash, or the free one where it would be. */
function slotOf(table: Uint32Array, mask: number, hash: number): number {
  let slot = ((hash ^ (hash >>> 12)) << 1) & mask
  while (table[slot + 1] !== 0 && table[slot] !== hash) slot = (slot + 2) & mask
  return slot
}
