const firstSlots = 1 << 12
/** Of the characters of a segment: ASCII letters and digits that are a word as they are, and others. */
export const kinds = { small: 1, other: 2 }
/** By character code below 128; 0: in no word. */
const kindOf = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  return /[a-z0-9]/.test(character) ? kinds.small : /[A-Z_]/.test(character) ? kinds.other : 0
})
/** Unknown, so that nobody can make a text whose segments are taken for others. */
const seeds = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number]

/** Finds the segments of texts and remembers a number of each, by two hashes of its characters. */
export function createSegmentNumbers() {
  /** Of each segment: two hashes, and its number from 1 on. */
  let slots = new Uint32Array(firstSlots * 4)
  let known = 0
  let one = 0
  let other = 0
  let kind = 0
  let slot = 0

  const makeRoom = () => {
    const before = slots
    slots = new Uint32Array(before.length * 4)
    for (let at = 0; at < before.length; at += 4)
      if (before[at + 2] !== 0)
        slots.set(before.subarray(at, at + 4), slotOf(slots, before[at] as number, before[at + 1] as number))
  }

  return {
    /** The end of the segment that begins there: the next ASCII character that is in no word. */
    scan(text: string, from: number): number {
      let first = seeds[0]
      let second = seeds[1]
      let all = 0
      let at = from
      for (; at < text.length; at++) {
        const code = text.charCodeAt(at)
        const found = code < 128 ? (kindOf[code] as number) : kinds.other
        if (found === 0) break
        all |= found
        first = Math.imul(first ^ code, 0x01000193)
        second = Math.imul(second ^ code, 0x85ebca6b)
      }
      one = (first ^ (first >>> 15)) >>> 0
      other = (second ^ (second >>> 13)) >>> 0
      kind = all
      return at
    },
    /** Of the characters of the last segment. */
    kinds: () => kind,
    /** The number of the last segment. */
    find(): number | undefined {
      slot = slotOf(slots, one, other)
      const place = slots[slot + 2] as number
      return place === 0 ? undefined : place - 1
    },
    /** The number of the segment that was not found. */
    remember(number: number): void {
      slots[slot] = one
      slots[slot + 1] = other
      slots[slot + 2] = number + 1
      if (++known * 8 > slots.length) makeRoom()
    },
    forget(): void {
      slots = new Uint32Array(firstSlots * 4)
      known = 0
    },
  }
}

/** The slot with the hashes, or the free slot for them. */
function slotOf(slots: Uint32Array, one: number, other: number): number {
  const mask = slots.length - 4
  let slot = (one << 2) & mask
  while (slots[slot + 2] !== 0 && (slots[slot] !== one || slots[slot + 1] !== other)) slot = (slot + 4) & mask
  return slot
}
