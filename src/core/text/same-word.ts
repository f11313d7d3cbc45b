import { stemOf } from './stem.ts'

/** Whether two words are equal, forms of one word, or one is the other with a short ending. */
export function sameWord(one: string, other: string): boolean {
  if (one === other) return true
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  if (short.length < 3 || !long.startsWith(short.slice(0, 3))) return false
  const stem = short.length > 4 ? short.replace(/(?:e|y|s)$/, '') : short
  return (stem.length >= 4 && long.length - stem.length <= 4 && long.startsWith(stem)) || stemOf(one) === stemOf(other)
}
