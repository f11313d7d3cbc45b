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

/** A fenced code block: up to a line of no fewer marks, or to the end. Its marks, which `split` keeps, are no prose, but cite nothing. */
const fenced = /^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})[\s\S]*?(?:\n {0,3}\1(?:`*|~*)[^\S\n]*$|$(?![\s\S]))/m

/** The text without fenced code blocks and code spans, in pieces. A code span ends at the next run of as many backticks. */
function* proseIn(text: string): Generator<string> {
  if (!text.includes('[')) return
  for (const prose of text.split(fenced)) {
    const ticks = [...prose.matchAll(/`+/g)]
    const ends = Map.groupBy(ticks.toReversed(), ([run]) => run.length)
    let from = 0
    for (const { 0: run, index } of ticks) {
      if (index < from) continue
      const same = ends.get(run.length) ?? []
      while ((same.at(-1)?.index ?? prose.length) <= index) same.pop()
      const end = same.at(-1)
      if (end === undefined) continue
      yield prose.slice(from, index)
      from = end.index + run.length
    }
    yield prose.slice(from)
  }
}
