const maxWords = 1 << 17
/** Long words are rare in texts and common in data. */
const maxCharacters = 1 << 20

/** Numbers words from 0. Once it has forgotten them, `epoch` has grown and old numbers are invalid. */
export interface Vocabulary {
  readonly epoch: number
  numberOf(word: string): number
  wordOf(number: number): string
  /** Whether it should forget its words before the next text. */
  isFull(): boolean
  forget(): void
}

export function createVocabulary(): Vocabulary {
  let numbers = new Map<string, number>()
  let words: string[] = []
  let characters = 0
  let epoch = 0
  return {
    get epoch() {
      return epoch
    },
    numberOf(word) {
      const known = numbers.get(word)
      if (known !== undefined) return known
      characters += word.length
      const number = words.push(word) - 1
      numbers.set(word, number)
      return number
    },
    wordOf: (number) => words[number] as string,
    isFull: () => words.length >= maxWords || characters >= maxCharacters,
    forget() {
      numbers = new Map()
      words = []
      characters = 0
      epoch++
    },
  }
}

export interface NumberSet {
  /** False if it is already in the set. */
  add(number: number): boolean
}

/** Is emptied when the vocabulary forgets its words. */
export function createNumberSet(vocabulary: Pick<Vocabulary, 'epoch'>): NumberSet {
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
