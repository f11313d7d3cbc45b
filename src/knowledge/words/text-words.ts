import { wordsOf } from '../../core/text/terms.ts'
import { createByteWriter } from './byte-writer.ts'
import { createSegmentNumbers, kinds } from './segment-numbers.ts'
import type { Vocabulary } from './vocabulary.ts'

const maxSegments = 1 << 17
const maxCharacters = 1 << 21
/** Longer ones are rare in texts and common in data. */
const maxRemembered = 40
/** Outside of ASCII, these depend on the characters round them, or change those. */
const depending = /\u0130|\u0338|\u03a3|\u212a/
const space = 0x20
/** The fields of a segment. A single word or token is there itself, of several the place in the pool. */
const fields = { count: 0, words: 1, wordsAt: 2, tokens: 3, tokensAt: 4 }
const stride = 8
const notAsked = 0xffffffff

/** Numbers, each as often as its count; a number may come again. Valid until the next call. */
export interface Counted {
  length: number
  numbers: Uint32Array<ArrayBuffer>
  counts: Uint32Array<ArrayBuffer>
}

/**
 * The words of texts, and with the same look-ups their tokens. A text is cut at the ASCII characters that are in no word, and
 * what a segment gives is remembered: the words and tokens of a text are those of its segments.
 */
export interface TextWords {
  /** Begins a new text; the vocabulary may forget its words. */
  begin(): void
  /** Adds to the text; gives how many bytes its words take. */
  add(text: string): number
  /** The words of all texts since the last call as UTF-8, those of a text separated by spaces. */
  take(): Uint8Array<ArrayBuffer>
  /** The words of the text by their numbers in the vocabulary, as they first came. */
  words(): Counted
  /** The tokens of the text, as they first came. `tokensOf` gives those of a part of it, and is always the same. */
  tokens(tokensOf: (text: string) => readonly number[]): Counted
}

/** `writes` false: nothing is written, so that there is nothing to take. */
export function createTextWords(vocabulary: Vocabulary, { writes = true } = {}): TextWords {
  const numbers = createSegmentNumbers()
  const written = createByteWriter()
  let segments = new Uint32Array(1 << 14)
  let pool = new Uint32Array(1 << 12)
  let pooled = 0
  let texts: string[] = []
  /** The words of segments that are not themselves a word, separated by spaces; as bytes unless they are ASCII. */
  let joined: (string | Uint8Array | undefined)[] = []
  let characters = 0
  let once: number[] = []
  const counted: Counted = { length: 0, numbers: new Uint32Array(1 << 10), counts: new Uint32Array(1 << 10) }

  const put = (segment: number, count: number, at: number, all: readonly number[]) => {
    segments[segment * stride + count] = all.length
    if (all.length === 1) {
      segments[segment * stride + at] = all[0] as number
      return
    }
    pool = grown(pool, pooled + all.length)
    segments[segment * stride + at] = pooled
    for (const number of all) pool[pooled++] = number
  }
  const make = (text: string, isWord: boolean): number => {
    const segment = texts.push(text) - 1
    characters += text.length
    segments = grown(segments, texts.length * stride)
    const place = segment * stride
    segments[place + fields.count] = 0
    segments[place + fields.words] = notAsked
    segments[place + fields.tokens] = notAsked
    if (!writes) return segment
    if (isWord) {
      segments[place + fields.words] = 1
      segments[place + fields.wordsAt] = vocabulary.numberOf(text)
      joined.push(undefined)
      return segment
    }
    const words = capitalised.test(text) ? [text.toLowerCase()] : wordsOf(text)
    joined.push(words.length === 0 ? undefined : toWrite(words.join(' ')))
    put(segment, fields.words, fields.wordsAt, words.map(vocabulary.numberOf))
    return segment
  }
  const ask = (field: number, at: number, numbersOf: (text: string) => readonly number[]) => {
    for (const segment of once)
      if (segments[segment * stride + field] === notAsked) put(segment, field, at, numbersOf(texts[segment] as string))
  }
  const use = (segment: number) => {
    const place = segment * stride
    const count = segments[place] as number
    if (count === 0) once.push(segment)
    segments[place] = count + 1
  }
  const write = (words: string | Uint8Array) => {
    if (typeof words === 'string') written.copy(words, 0, words.length)
    else written.append(words)
  }
  const forget = () => {
    numbers.forget()
    vocabulary.forget()
    pooled = 0
    texts = []
    joined = []
    characters = 0
  }
  const collect = (count: number, at: number): Counted => {
    let length = 0
    for (const segment of once) {
      const place = segment * stride
      const many = segments[place + count] as number
      const times = segments[place] as number
      const from = segments[place + at] as number
      if (length + many > counted.numbers.length) {
        counted.numbers = grown(counted.numbers, length + many)
        counted.counts = grown(counted.counts, length + many)
      }
      for (let index = 0; index < many; index++) {
        counted.numbers[length] = many === 1 ? from : (pool[from + index] as number)
        counted.counts[length++] = times
      }
    }
    counted.length = length
    return counted
  }

  return {
    begin() {
      for (const segment of once) segments[segment * stride] = 0
      once = []
      if (texts.length >= maxSegments || characters >= maxCharacters || vocabulary.isFull()) forget()
    },
    add(text) {
      const from = written.length()
      if (depending.test(text)) {
        const segment = make(text, false)
        use(segment)
        const words = joined[segment]
        if (words !== undefined) write(words)
        return written.length() - from
      }
      let isFirst = true
      for (let at = 0; at < text.length; ) {
        const end = numbers.scan(text, at)
        if (end === at) {
          at++
          continue
        }
        const isWord = numbers.kinds() === kinds.small
        let segment = end - at > maxRemembered ? undefined : numbers.find()
        if (segment === undefined) {
          const part = text.slice(at, end)
          segment = make(end - at > maxRemembered ? part : detached(part), isWord)
          if (end - at <= maxRemembered) numbers.remember(segment)
        }
        use(segment)
        const words = isWord ? undefined : joined[segment]
        if (writes && (isWord || words !== undefined)) {
          if (!isFirst) written.put(space)
          isFirst = false
          if (words === undefined) written.copy(text, at, end)
          else write(words)
        }
        at = end
      }
      return written.length() - from
    },
    take: written.take,
    words() {
      if (!writes) ask(fields.words, fields.wordsAt, (text) => wordsOf(text).map(vocabulary.numberOf))
      return collect(fields.words, fields.wordsAt)
    },
    tokens(tokensOf) {
      ask(fields.tokens, fields.tokensAt, tokensOf)
      return collect(fields.tokens, fields.tokensAt)
    },
  }
}

/** Most of what is no word by itself: the first word of a sentence. */
const capitalised = /^[A-Z][a-z]+$/
const notAscii = /[^\p{ASCII}]/u

function toWrite(words: string): string | Uint8Array {
  return notAscii.test(words) ? Buffer.from(words) : words
}

/** A part of so many characters keeps the whole string in memory. */
const longEnough = 13

function detached(part: string): string {
  return part.length < longEnough ? part : Buffer.from(part, 'utf16le').toString('utf16le')
}

function grown(array: Uint32Array<ArrayBuffer>, least: number): Uint32Array<ArrayBuffer> {
  if (least <= array.length) return array
  const larger = new Uint32Array(2 ** Math.ceil(Math.log2(least)))
  larger.set(array)
  return larger
}
