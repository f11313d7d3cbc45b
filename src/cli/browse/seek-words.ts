import { stripVTControlCharacters } from 'node:util'
import type { SearchWord } from '../../core/text/message-search.ts'
import { placesOf } from './found-words.ts'
import { type Column, moveBack, type Place } from './scroll.ts'

/** Lines above a found message. */
const contextLines = 2

/** From where the line of a run with most of the words is seen: the run's start, when both fit. */
export function placeOfWords(
  column: Column,
  run: number,
  isMessage: (entry: number) => boolean,
  words: readonly SearchWord[],
  height: number,
): Place {
  let above = 0
  let best: { entry: number; line: number; above: number; count: number } | undefined
  for (let entry = 0; entry < column.entries(run) && (best?.count ?? 0) < words.length; entry++) {
    const lines = column.lines(run, entry)
    for (const [line, text] of isMessage(entry) ? lines.entries() : []) {
      const count = new Set(placesOf(stripVTControlCharacters(text), words).map(({ word }) => word)).size
      if (count > (best?.count ?? 0)) best = { entry, line, above: above + line, count }
    }
    above += lines.length
  }
  if (best === undefined || best.above < height / 2) return { run, entry: 0, line: 0 }
  return moveBack(column, { run, entry: best.entry, line: best.line }, contextLines)
}
