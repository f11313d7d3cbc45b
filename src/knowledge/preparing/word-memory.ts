const firstSlots = 1 << 14
const mostSlots = 1 << 20

/**
 * Tells which words have not come before. Words are remembered by a hash of 32 bits, so that one in thousands may be
 * taken for another, and forgotten when there are too many.
 */
export interface WordMemory {
  /** Adds the new ones of words that are separated by spaces. */
  fresh(text: string, words: string[]): void
}

export function createWordMemory(): WordMemory {
  let slots = new Uint32Array(firstSlots)
  let used = 0

  const isNew = (hash: number): boolean => {
    const mask = slots.length - 1
    let at = (hash ^ (hash >>> 15)) & mask
    for (; slots[at] !== 0; at = (at + 1) & mask) if (slots[at] === hash) return false
    slots[at] = hash
    used++
    return true
  }
  const makeRoom = () => {
    const before = slots
    const more = before.length < mostSlots
    slots = new Uint32Array(more ? before.length * 4 : mostSlots)
    used = 0
    if (more) for (const hash of before) if (hash !== 0) isNew(hash)
  }

  return {
    fresh(text, words) {
      let hash = 0
      for (let at = 0, start = 0; at <= text.length; at++) {
        const code = at === text.length ? 32 : text.charCodeAt(at)
        if (code !== 32) hash = Math.imul(hash ^ code, 0x01000193)
        else {
          if (at > start && isNew((hash ^ (hash >>> 16)) >>> 0 || 1)) words.push(text.slice(start, at))
          if (used * 2 > slots.length) makeRoom()
          hash = 0
          start = at + 1
        }
      }
    },
  }
}
