import type { SourceEvent } from '../event.ts'
import type { Json } from '../json.ts'
import type { Part } from '../message.ts'

/** A source of an answer. */
export interface CitedSource extends SourceEvent {
  /** Whether the text of the answer cites its number, like [1]. */
  cited: boolean
}

const one = String.raw`\d{1,4}(?: ?[-–—] ?\d{1,4})?`
/** `[1]`, `[1, 2]` or `[1-3]`. The text of a link is not a citation, and `[^1]` is a footnote. */
const citation = new RegExp(String.raw`\[(${one}(?: ?[,;] ?${one})*)\](?!\()`, 'g')
/** A longer range is not a citation. */
const longestRange = 100

/** Only text cites: that of text parts, and strings in data parts. Code does not. */
export function markCited(sources: readonly SourceEvent[], parts: readonly Part[]): CitedSource[] {
  if (sources.length === 0) return []
  const cited = new Set<number>()
  const seen = new Set<string>()
  for (const text of textsIn(parts)) {
    for (const prose of proseIn(text)) {
      for (const [, numbers = ''] of prose.matchAll(citation)) {
        if (seen.has(numbers)) continue
        seen.add(numbers)
        for (const range of numbers.split(/[,;]/)) addRange(cited, range)
      }
    }
  }
  return sources.map((source) => ({ ...source, cited: cited.has(source.index) }))
}

/** In the given order, those that are cited first. A source of an older server is not marked. */
export function citedFirst<T extends { index: number; cited?: boolean }>(sources: readonly T[]): T[] {
  return [...sources.filter(({ cited }) => cited), ...sources.filter(({ cited }) => !cited)]
}

function addRange(cited: Set<number>, range: string): void {
  const [from = 0, to = from] = range.split(/[-–—]/).map(Number)
  if (to - from >= longestRange) return
  for (let number = from; number <= to; number++) cited.add(number)
}

/** Text parts that follow each other are one text. */
function textsIn(parts: readonly Part[]): string[] {
  const texts: string[] = []
  let text = ''
  for (const part of parts) {
    if (part.type === 'text') text += part.text
    else {
      texts.push(text)
      text = ''
      if (part.type === 'data') addStrings(texts, part.data)
    }
  }
  return [...texts, text]
}

function addStrings(texts: string[], data: Json): void {
  const open: Json[] = [data]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null) for (const inside of Object.values(value)) open.push(inside)
  }
}

/** The text without fenced code blocks and code spans, in pieces. */
function* proseIn(text: string): Generator<string> {
  if (!text.includes('[')) return
  let fence: string | undefined
  let prose = ''
  for (const [line] of text.matchAll(/[^\n]*\n?/g)) {
    const [, mark, rest = ''] = /^ {0,3}(`{3,}|~{3,})([^\n]*)/.exec(line) ?? []
    if (fence === undefined && mark !== undefined && !(mark.startsWith('`') && rest.includes('`'))) {
      fence = mark
      yield* outsideSpans(prose)
      prose = ''
    } else if (fence === undefined) prose += line
    else if (mark?.startsWith(fence) && rest.trim() === '') fence = undefined
  }
  yield* outsideSpans(prose)
}

/** A code span ends at the next run of as many backticks; a run without one is text. */
function* outsideSpans(text: string): Generator<string> {
  const runs = [...text.matchAll(/`+/g)].map(({ index, 0: { length } }) => ({ start: index, length }))
  const next = new Map<number, number>()
  const ends = runs.map(() => -1)
  for (let place = runs.length - 1; place >= 0; place--) {
    const { length = 0 } = runs[place] ?? {}
    ends[place] = next.get(length) ?? -1
    next.set(length, place)
  }
  let from = 0
  for (let place = 0; place < runs.length; place++) {
    const end = runs[ends[place] ?? -1]
    const begin = runs[place]
    if (begin === undefined || end === undefined) continue
    yield text.slice(from, begin.start)
    from = end.start + end.length
    place = ends[place] ?? place
  }
  yield text.slice(from)
}
