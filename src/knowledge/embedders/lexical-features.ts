import type { Counted } from '../words/text-words.ts'
import type { Vocabulary } from '../words/vocabulary.ts'

const wordSeed = 0x811c9dc5
const gramSeed = 0x9dc5811c
const prime = 0x01000193

/** The word itself, then its runs of 3 to 5 characters with their position in the word, whose ends count as spaces. */
export function eachFeature(
  word: string,
  visit: (hash: number, from: number, length: number | undefined) => void,
): void {
  let whole = wordSeed
  for (let index = 0; index < word.length; index++) whole = Math.imul(whole ^ word.charCodeAt(index), prime)
  visit(mixed(whole), 0, undefined)
  const padded = ` ${word} `
  for (let from = 0; from + 3 <= padded.length; from++) {
    let hash = gramSeed
    const end = Math.min(padded.length, from + 5)
    for (let index = from; index < end; index++) {
      hash = Math.imul(hash ^ padded.charCodeAt(index), prime)
      if (index >= from + 2) visit(mixed(hash), from, index - from + 1)
    }
  }
}

function mixed(hash: number): number {
  let value = hash ^ (hash >>> 16)
  value = Math.imul(value, 0x45d9f3b)
  return (value ^ (value >>> 15)) >>> 0
}

/** A hash contains the position of its feature in the vector, and its sign. */
export const placeBits = 10
const signBit = 1 << placeBits
const countShift = placeBits + 1
/** The square roots of the smallest counts, each followed by its negative. */
const signedRoots = Float32Array.from({ length: 2_048 }, (_, at) => Math.sqrt(at >> 1) * (at % 2 === 0 ? 1 : -1))

/** Adds a feature to a vector. Signs make half of the collisions cancel out instead of adding up. */
export function putFeature(vector: Float32Array, hash: number, weight: number): void {
  const place = hash & (signBit - 1)
  vector[place] = (vector[place] as number) + (hash & 0x80000000 ? -weight : weight)
}

export interface FeatureSums {
  /** Adds to the vector the square root of each feature's count in these words. */
  addTo(vector: Float32Array, words: Counted): void
}

/**
 * Caches and numbers the features of a vocabulary's words, so that counting one is one array access. The loops use only
 * local variables and typed arrays: they take most of the time of embedding.
 */
export function createFeatureSums(vocabulary: Vocabulary): FeatureSums {
  let epoch = vocabulary.epoch
  /** Per word number: its count in the text, and the range of its features in the pool. */
  let places = new Uint32Array(1 << 14)
  let pool = new Uint32Array(1 << 14)
  let pooled = 0
  /** Per feature number: its hash; position, sign and count in the text. */
  let hashes = new Uint32Array(1 << 13)
  let features = new Uint32Array(1 << 13)
  let known = 0
  let slots = new Uint32Array(1 << 15)

  const numberOf = (hash: number): number => {
    if (known * 2 >= slots.length) makeRoom()
    const slot = slotOf(slots, hashes, hash)
    const found = slots[slot] as number
    if (found !== 0) return found - 1
    if (known === hashes.length) {
      hashes = grown(hashes, known + 1)
      features = grown(features, known + 1)
    }
    hashes[known] = hash
    features[known] = (hash & (signBit - 1)) | (hash & 0x80000000 ? signBit : 0)
    slots[slot] = ++known
    return known - 1
  }
  const makeRoom = () => {
    slots = new Uint32Array(slots.length * 4)
    for (let index = 0; index < known; index++) slots[slotOf(slots, hashes, hashes[index] as number)] = index + 1
  }
  const remember = (word: string, place: number) => {
    places = grown(places, place + 4)
    pool = grown(pool, pooled + 3 * word.length + 4)
    places[place + 1] = pooled
    eachFeature(word, (hash) => {
      pool[pooled++] = numberOf(hash)
    })
    places[place + 2] = pooled
  }
  const forget = () => {
    places.fill(0)
    pool = new Uint32Array(1 << 14)
    pooled = 0
    slots = new Uint32Array(1 << 15)
    known = 0
    epoch = vocabulary.epoch
  }

  const count = (once: readonly number[]) => {
    const all = features
    const ofWords = pool
    for (const place of once) {
      const more = (places[place] as number) << countShift
      const end = places[place + 2] as number
      for (let index = places[place + 1] as number; index < end; index++) {
        const feature = ofWords[index] as number
        all[feature] = (all[feature] as number) + more
      }
      places[place] = 0
    }
  }
  const collect = (once: readonly number[], vector: Float32Array) => {
    const all = features
    const ofWords = pool
    for (const from of once) {
      const end = places[from + 2] as number
      for (let index = places[from + 1] as number; index < end; index++) {
        const feature = ofWords[index] as number
        const value = all[feature] as number
        const root = value >>> placeBits
        const place = value & (signBit - 1)
        const weight = root < signedRoots.length ? (signedRoots[root] as number) : signedRoot(root)
        vector[place] = (vector[place] as number) + weight
        all[feature] = value & (signBit * 2 - 1)
      }
    }
  }

  return {
    addTo(vector, { length, numbers, counts }) {
      if (epoch !== vocabulary.epoch) forget()
      const once: number[] = []
      for (let index = 0; index < length; index++) {
        const number = numbers[index] as number
        const place = number * 4
        if (place >= places.length || places[place + 2] === 0) remember(vocabulary.wordOf(number), place)
        const before = places[place] as number
        if (before === 0) once.push(place)
        places[place] = before + (counts[index] as number)
      }
      count(once)
      collect(once, vector)
    },
  }
}

function signedRoot(root: number): number {
  return Math.sqrt(root >>> 1) * (root % 2 === 0 ? 1 : -1)
}

/** The slot with the number of the hash, or the free slot for it. */
function slotOf(slots: Uint32Array, hashes: Uint32Array, hash: number): number {
  const mask = slots.length - 1
  let slot = (hash ^ (hash >>> 12)) & mask
  for (let held = slots[slot] as number; held !== 0; held = slots[slot] as number) {
    if (hashes[held - 1] === hash) return slot
    slot = (slot + 1) & mask
  }
  return slot
}

function grown(array: Uint32Array<ArrayBuffer>, least: number): Uint32Array<ArrayBuffer> {
  if (least <= array.length) return array
  const larger = new Uint32Array(2 ** Math.ceil(Math.log2(least)))
  larger.set(array)
  return larger
}
