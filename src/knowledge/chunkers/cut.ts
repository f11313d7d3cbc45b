import type { ChunkOptions } from '../../core/knowledge/drivers.ts'
import { boundaryAfter, boundaryBefore, isBoundary } from '../words/graphemes.ts'

/** The last good position to cut in `(after, limit]`, or undefined. Finders are tried in order of preference. */
export type CutFinder = (text: string, after: number, limit: number) => number | undefined

export interface CutRules {
  finders: readonly CutFinder[]
  /** The end of a block that begins at `at` and is better not cut; the overlap before it may shrink. */
  wholeUntil?: (at: number) => number | undefined
  /** Whether the overlap before a cut begins with a whole line, if the cut is at the end of one. Default: with a word. */
  byLines?: (cut: number) => boolean
}

const whitespace = /\s/

/** Pieces of `[from, to)` of at most `size`; each but the first repeats up to `overlap` of the previous one. */
export function* cutPieces(
  text: string,
  from: number,
  to: number,
  { size, overlap }: ChunkOptions,
  rules: CutRules,
): Generator<[start: number, end: number]> {
  let start = from
  let end = from
  while (end < to) {
    end = cutEnd(text, start, end, to, size, rules.finders)
    yield [start, end]
    if (end < to) start = nextStart(text, start, end, to, size, overlap, rules)
  }
}

function cutEnd(
  text: string,
  start: number,
  done: number,
  to: number,
  size: number,
  finders: readonly CutFinder[],
): number {
  const limit = start + size
  if (limit >= to) return to
  for (const find of finders) {
    const place = find(text, done, limit)
    if (place !== undefined && isBoundary(text, place, start)) return place
  }
  const hard = boundaryBefore(text, limit, start)
  return hard > done ? hard : Math.min(to, boundaryAfter(text, done + 1, done))
}

function nextStart(
  text: string,
  start: number,
  end: number,
  to: number,
  size: number,
  overlap: number,
  { wholeUntil: endOfWhole, byLines }: CutRules,
): number {
  const wholeUntil = endOfWhole?.(end)
  let earliest = end - overlap
  if (wholeUntil !== undefined && wholeUntil - end <= size)
    earliest = Math.max(earliest, Math.min(wholeUntil, to) - size)
  const floor = boundaryAfter(text, start + 1, start)
  const least = boundaryAfter(text, Math.max(earliest, floor), floor)
  if (least >= end) return end
  if (text.charCodeAt(end - 1) === 10 && byLines?.(end)) {
    const newline = text.indexOf('\n', least - 1)
    return newline + 1 < end && isBoundary(text, newline + 1, least) ? newline + 1 : end
  }
  if (overlap < 20) return least
  // Begins with a whole word if that costs at most half of the overlap.
  for (let at = least; at < end - (end - least) / 2; at++) {
    if (whitespace.test(text.charAt(at - 1)) && !whitespace.test(text.charAt(at)) && isBoundary(text, at, least))
      return at
  }
  return least
}

/** The position after the last character in the window that the test accepts. */
function byLast(test: (text: string, at: number) => boolean): CutFinder {
  return (text, after, limit) => {
    for (let index = limit; index > after; index--) if (test(text, index)) return index
    return undefined
  }
}

const isSpace = (code: number) =>
  code === 32 || code === 10 || code === 9 || code === 13 || code === 0xa0 || code === 0x3000

export const atWord = byLast((text, at) => isSpace(text.charCodeAt(at - 1)) && !isSpace(text.charCodeAt(at)))
export const atLine = byLast((text, at) => text.charCodeAt(at - 1) === 10)

const sentenceEnd = /[.!?…]["'”’)\]]*$/
/** After the white space that follows a full stop, but not in `e.g. this`; CJK stops need no space. */
export const atSentence = byLast((text, at) => {
  const before = text.charCodeAt(at - 1)
  if (before === 0x3002 || before === 0xff01 || before === 0xff1f) return true
  if (!isSpace(before)) return false
  const next = text.charCodeAt(at)
  if (isSpace(next) || (next >= 97 && next <= 122)) return false
  let space = at - 1
  while (space > 0 && isSpace(text.charCodeAt(space - 1))) space--
  return text.slice(space, at).includes('\n\n') || sentenceEnd.test(text.slice(Math.max(0, space - 4), space))
})

export const atParagraph = byLast((text, at) => {
  if (text.charCodeAt(at - 1) !== 10 || text.charCodeAt(at) === 10) return false
  let place = at - 2
  while (place >= 0 && (text.charCodeAt(place) === 32 || text.charCodeAt(place) === 9 || text.charCodeAt(place) === 13))
    place--
  return place >= 0 && text.charCodeAt(place) === 10
})
