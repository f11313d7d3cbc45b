import type { SearchWord } from '../../core/text/message-search.ts'
import { wordsOf } from '../../core/text/terms.ts'

const chunks = /[\p{L}\p{N}\p{M}_]+/gu
const styles = /\p{Cc}\[[\d;]*m/gu

export interface WordPlace {
  from: number
  to: number
  word: SearchWord
}

/** Where the words of a search are in a text, by the rules of the search itself. */
export function placesOf(text: string, wanted: readonly SearchWord[]): WordPlace[] {
  const places: WordPlace[] = []
  if (wanted.length === 0) return places
  for (const { 0: chunk, index } of text.matchAll(chunks)) {
    const words = wordsOf(chunk)
    for (const one of wanted) {
      const isThere = words.some((word) => (one.isBeginning ? word.startsWith(one.word) : word === one.word))
      if (!isThere) continue
      const lower = chunk.toLowerCase()
      let at = lower.length === chunk.length ? lower.indexOf(one.word) : -1
      // Its accents are in the way: all of it is the word.
      if (at === -1) places.push({ from: index, to: index + chunk.length, word: one })
      for (; at !== -1; at = lower.indexOf(one.word, at + one.word.length))
        places.push({ from: index + at, to: index + at + one.word.length, word: one })
    }
  }
  return places
}

/** Marks the words in a line that may have styles, which stay as they are. */
export function markWords(line: string, wanted: readonly SearchWord[], mark: (text: string) => string): string {
  const places = placesOf(line.replace(styles, ''), wanted)
  if (places.length === 0) return line
  const isMarked = new Set(places.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, at) => from + at)))
  let marked = ''
  let at = 0
  let run = ''
  const endRun = () => {
    if (run !== '') marked += mark(run)
    run = ''
  }
  const take = (text: string) => {
    for (const unit of text.split('')) {
      if (isMarked.has(at++)) run += unit
      else {
        endRun()
        marked += unit
      }
    }
  }
  let from = 0
  for (const { 0: style, index } of line.matchAll(styles)) {
    take(line.slice(from, index))
    endRun()
    marked += style
    from = index + style.length
  }
  take(line.slice(from))
  endRun()
  return marked
}
