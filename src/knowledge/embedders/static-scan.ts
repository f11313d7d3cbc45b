import { type Tokens, tokenWords } from './static-tokens.ts'

const notAscii = /[^\p{ASCII}]/u
const otherLetters = /[^\P{L}a-z]+/gu
/** In lower case they become ASCII, or depend on the letters round them. */
const changing = /[\u0130\u212a\u03a3]/
const longestNumber = 4
/** Longer words are data, and there are too many of them. */
const maxLength = 40
const maxKnown = 100_000
const firstSlots = 4096

/**
 * Gives the tokens of a text, in order: those of `tokens.of(text)`. Words of ASCII letters are looked up by two hashes of their
 * characters, without making a string of each.
 */
export function tokenScanner(tokens: Tokens): (text: string, take: (token: number) => void) => void {
  /** Of each word: two hashes, and its place in `found` from 1 on. */
  let slots = new Uint32Array(firstSlots * 4)
  let found: (readonly number[])[] = []

  const makeRoom = () => {
    const before = slots
    slots = new Uint32Array(before.length * 2)
    for (let at = 0; at < before.length; at += 4)
      if (before[at + 2] !== 0)
        slots.set(before.subarray(at, at + 4), slotOf(slots, before[at] as number, before[at + 1] as number))
  }
  const remember = (slot: number, one: number, other: number, pieces: readonly number[]) => {
    if (found.length >= maxKnown) {
      slots = new Uint32Array(firstSlots * 4)
      found = []
      return
    }
    found.push(pieces)
    slots[slot] = one
    slots[slot + 1] = other
    slots[slot + 2] = found.length
    if (found.length * 8 > slots.length) makeRoom()
  }
  const lookUp = (text: string, from: number, to: number, one: number, other: number): readonly number[] => {
    const slot = slotOf(slots, one, other)
    const place = slots[slot + 2] as number
    if (place !== 0) return found[place - 1] as readonly number[]
    const pieces = tokens.ofWord(text.slice(from, to).toLowerCase())
    if (to - from <= maxLength) remember(slot, one, other, pieces)
    return pieces
  }

  return (text, take) => {
    if (notAscii.test(text) && changing.test(text)) return takeAll(tokens, tokenWords(text), take)
    for (let at = 0; at < text.length; ) {
      const from = at
      const first = text.charCodeAt(at)
      let one = 0x811c9dc5
      let other = 0x9dc5811c
      if (isLetter(first)) {
        let afterSmall = false
        for (; at < text.length; at++) {
          const code = text.charCodeAt(at)
          const isSmall = code >= 97
          if (!isLetter(code) || (afterSmall && !isSmall)) break
          const small = code | 32
          one = Math.imul(one ^ small, 0x01000193)
          other = Math.imul(other ^ small, 0x85ebca6b)
          afterSmall = isSmall
        }
      } else if (isDigit(first)) {
        for (; at < text.length && at < from + longestNumber; at++) {
          const code = text.charCodeAt(at)
          if (!isDigit(code)) break
          one = Math.imul(one ^ code, 0x01000193)
          other = Math.imul(other ^ code, 0x85ebca6b)
        }
      } else if (first < 128) {
        at++
        continue
      } else {
        while (text.charCodeAt(at) >= 128) at++
        takeAll(tokens, text.slice(from, at).toLowerCase().match(otherLetters) ?? [], take)
        continue
      }
      one = (one ^ (one >>> 15)) >>> 0
      other = (other ^ (other >>> 13)) >>> 0
      for (const token of lookUp(text, from, at, one, other)) take(token)
    }
  }
}

function takeAll(tokens: Tokens, words: readonly string[], take: (token: number) => void): void {
  for (const word of words) for (const token of tokens.ofWord(word)) take(token)
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

/** The slot with the hashes, or the free slot for them. */
function slotOf(slots: Uint32Array, one: number, other: number): number {
  const mask = slots.length - 4
  let slot = (one << 2) & mask
  while (slots[slot + 2] !== 0 && (slots[slot] !== one || slots[slot + 1] !== other)) slot = (slot + 4) & mask
  return slot
}
