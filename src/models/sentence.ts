// Created on first use: they load tables that would slow the start.
let words: Intl.Segmenter | undefined
let sentences: Intl.Segmenter | undefined

const commonWords = new Set(
  (
    'a about all also am an and any are as at be been but by can could did do does for from get give had has have how i if in ' +
    'into is it its just may me might more most much must my no not of on or our please should so some such tell than that the their them then ' +
    'there these they this those to us use used using was we were what when where which who why will with would you your'
  ).split(' '),
)

/** A piece of a text and its start, in UTF-16 code units. */
export interface Span {
  start: number
  text: string
}

/** The words of a text that carry meaning, in lower case: without English function words, identifiers split. */
export function contentWords(text: string): string[] {
  words ??= new Intl.Segmenter('en', { granularity: 'word' })
  const plain = text.normalize('NFKC').replace(/(\p{Ll})(?=\p{Lu})|_/gu, '$1 ')
  const found: string[] = []
  for (const { segment, isWordLike } of words.segment(plain.toLowerCase())) {
    if (isWordLike === true && !commonWords.has(segment)) found.push(segment)
  }
  return found
}

/** Sentences as they stand in the text, without the white space around them; a line break does not end one. */
export function splitSentences(text: string): Span[] {
  sentences ??= new Intl.Segmenter('en', { granularity: 'sentence' })
  const found: Span[] = []
  for (const { index, segment } of sentences.segment(text.replace(/[\r\n\u2028\u2029]/g, ' '))) {
    const span = trimSpan({ start: index, text: text.slice(index, index + segment.length) })
    if (span.text !== '') found.push(span)
  }
  return found
}

export function trimSpan({ start, text }: Span): Span {
  return { start: start + (text.length - text.trimStart().length), text: text.trim() }
}

/** At most `length` code units of a text, cut between two words. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text
  const head = text.slice(0, length).replace(/\s+\S*$/, '')
  return head.length < length ? head : head.replace(/[\uD800-\uDBFF]$/, '')
}
