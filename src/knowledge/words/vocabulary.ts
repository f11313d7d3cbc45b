const maxWords = 1 << 16
/** Long words are rare in texts and common in data. */
const maxCharacters = 1 << 20
const firstSlots = 1 << 12

/** Numbers words from 0. When there are too many, all are forgotten, `epoch` grows, and old numbers are invalid. */
export interface Vocabulary {
  readonly epoch: number
  /** All numbers are of one epoch. */
  numbersOf(words: readonly string[]): number[]
}

/** A slot holds two hashes and the number from 1, so that a look-up is one memory access. */
export function createVocabulary(): Vocabulary {
  let slots = new Uint32Array(firstSlots * 4)
  let known = 0
  let characters = 0
  let epoch = 0

  const makeRoom = () => {
    const before = slots
    slots = new Uint32Array(before.length * 4)
    for (let at = 0; at < before.length; at += 4) {
      if (before[at + 2] === 0) continue
      slots.set(before.subarray(at, at + 4), slotOf(slots, before[at] as number, before[at + 1] as number))
    }
  }
  const forget = () => {
    slots = new Uint32Array(firstSlots * 4)
    known = 0
    characters = 0
    epoch++
  }
  const numberOf = (word: string): number => {
    let one = 0x811c9dc5
    let other = 0x9dc5811c
    for (let index = 0; index < word.length; index++) {
      const code = word.charCodeAt(index)
      one = Math.imul(one ^ code, 0x01000193)
      other = Math.imul(other ^ code, 0x85ebca6b)
    }
    one = (one ^ (one >>> 15)) >>> 0
    other = (other ^ (other >>> 13)) >>> 0
    const slot = slotOf(slots, one, other)
    const found = slots[slot + 2] as number
    if (found !== 0) return found - 1
    slots[slot] = one
    slots[slot + 1] = other
    slots[slot + 2] = ++known
    characters += word.length
    if (known * 8 > slots.length) makeRoom()
    return known - 1
  }

  return {
    get epoch() {
      return epoch
    },
    numbersOf(words) {
      if (known >= maxWords || characters >= maxCharacters) forget()
      return words.map(numberOf)
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

export interface NumberSet {
  /** False if it is already in the set. */
  add(number: number): boolean
}

/** Is emptied when the vocabulary forgets its words. */
export function createNumberSet(vocabulary: Vocabulary): NumberSet {
  let epoch = vocabulary.epoch
  let taken = new Uint8Array(1 << 12)
  return {
    add(number) {
      if (epoch !== vocabulary.epoch) {
        epoch = vocabulary.epoch
        taken.fill(0)
      }
      if (number >= taken.length) {
        const before = taken
        taken = new Uint8Array(2 ** Math.ceil(Math.log2(number + 1)))
        taken.set(before)
      }
      if (taken[number] === 1) return false
      taken[number] = 1
      return true
    },
  }
}
