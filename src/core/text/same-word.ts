import { stemOf } from './stem.ts'

/** What English and its neighbours put at the end of a word: `out`, `up` or `name` make another word of it. */
const ending = new RegExp(
  `^(?:${[
    's|es|e|d|ed|er|ers|est|r|rs|y|ies|ied|ier|ing|ings|ting|ning|ping|ging|bing|ding|ming|ring',
    'ly|al|ally|ion|ions|or|ors|able|ible|ably|ment|ness|less|ful|ity|ive|ic|ical|ize|ized|ise|ised|ist|ists|ism|age|ance|ence|ant|ent',
    'en|em|es|n|ns|nen|ern|ens|te|ten|t|st|ung|lich|ig|ige|igen|heit|keit|isch',
    'a|o|i|os|as|is|ons|ez|ent|ait|ant|eur|eurs|euse|ar|ir|ado|ada|ando|iendo|re|ren|ment',
  ].join('|')})$`,
)
const notAscii = /[^\p{ASCII}]/u

/** Whether two words are equal, forms of one word, or one is the other with a short ending. */
export function sameWord(one: string, other: string): boolean {
  return one === other || isEnding(longerBy(one, other)) || (beginAlike(one, other) && stemOf(one) === stemOf(other))
}

/** Whether two words are the same, or one is the other with few letters more: `system` and `systemd`. */
export function nearlySameWord(one: string, other: string): boolean {
  return sameWord(one, other) || longerBy(one, other) !== undefined
}

const sharedBeginning = 3

function beginAlike(one: string, other: string): boolean {
  return Math.min(one.length, other.length) >= sharedBeginning && one.startsWith(other.slice(0, sharedBeginning))
}

/** What the longer of two words has after the shorter one, if that is little. */
function longerBy(one: string, other: string): string | undefined {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  if (!beginAlike(short, long)) return undefined
  const stem = short.length > 4 ? short.replace(/(?:e|y|s)$/, '') : short
  if (stem.length < 4 || long.length - stem.length > 4 || !long.startsWith(stem)) return undefined
  return long.slice(stem.length)
}

/** Endings of other alphabets are not told apart. */
function isEnding(rest: string | undefined): boolean {
  return rest !== undefined && (ending.test(rest) || notAscii.test(rest))
}
