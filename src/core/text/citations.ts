import type { SourceEvent } from '../event.ts'
import type { Json } from '../json.ts'
import type { Part } from '../message.ts'

/** A source of an answer. */
export interface CitedSource extends SourceEvent {
  /** Whether the text of the answer cites its number, like [1]. */
  cited: boolean
}

const one = String.raw`\d{1,4}(?: ?[-–—] ?\d{1,4})?`
/** `[1]`, `[1, 2]` or `[1-3]`. The text of a link is not a citation, `[^1]` is a footnote, and `[2026-01-02]` a day. */
export const citation = new RegExp(String.raw`(\[${one}(?: ?[,;] ?${one})*\])(?!\()`, 'g')
const range = /(\d+)(?: ?[-–—] ?(\d+))?/g
/** A longer range is not a citation. */
const longestRange = 100
/** A fenced code block: up to a line of no fewer marks, or to the end. Its marks, which `split` keeps, are no prose, but cite nothing. */
const fenced = /^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})[\s\S]*?(?:\n {0,3}\1(?:`*|~*)[^\S\n]*$|$(?![\s\S]))/m
/** Up to the next run of as many backticks, if it is near. */
const span = /(?<!`)(`+)(?!`)[\s\S]{0,2000}?(?<!`)\1(?!`)/g

/** Only text cites: that of text parts, and strings in data parts. Code does not. */
export function markCited(sources: readonly SourceEvent[], parts: readonly Part[]): CitedSource[] {
  if (sources.length === 0) return []
  const prose = textsIn(parts).flatMap((text) => text.split(fenced))
  const found = new Set(prose.flatMap((text) => text.replace(span, '`').match(citation) ?? []))
  const ranges = [...found].flatMap((numbers) =>
    [...numbers.matchAll(range)].map(([, from, to = from]) => [from, to].map(Number)),
  )
  return sources.map((source) => ({
    ...source,
    cited: ranges.some(([from = 0, to = 0]) => from <= source.index && source.index <= to && to - from < longestRange),
  }))
}

/** In the given order, those that are cited first. A source of an older server is not marked. */
export function citedFirst<T extends { index: number; cited?: boolean }>(sources: readonly T[]): T[] {
  return [...sources.filter(({ cited }) => cited), ...sources.filter(({ cited }) => !cited)]
}

/** Text parts that follow each other are one text. */
function textsIn(parts: readonly Part[]): string[] {
  const texts = ['']
  for (const part of parts) {
    if (part.type === 'text') texts.push(texts.pop() + part.text)
    else {
      if (part.type === 'data') addStrings(texts, part.data)
      texts.push('')
    }
  }
  return texts
}

function addStrings(texts: string[], data: Json): void {
  const values = [data]
  for (const value of values) {
    if (typeof value === 'string') texts.push(value)
    else for (const inside of Object.values(value ?? [])) values.push(inside)
  }
}
