import { tokenWords } from '../../src/knowledge/embedders/static-tokens.ts'
import type { Document } from './markup.ts'

/** The token that ends a sentence while training; no text has it. */
export const sentenceEnd = '[s]'
const wordShare = 0.83
const lastLetter = 0x24f

/** Letters, the words that many sources use often, and pieces for all other words. */
export function chooseVocabulary(sources: readonly (readonly Document[])[], size: number): string[] {
  const totals = new Map<string, number>()
  const users = new Map<string, number>()
  for (const documents of sources) {
    const counts = countWords(documents)
    for (const [word, count] of counts) {
      totals.set(word, (totals.get(word) ?? 0) + count)
      users.set(word, (users.get(word) ?? 0) + 1)
    }
  }
  const letters = lettersOf(totals)
  const vocabulary = [sentenceEnd, ...letters, ...letters.map((letter) => `##${letter}`)]
  const rated: Rated[] = []
  for (const [word, count] of totals) {
    const used = users.get(word) ?? 0
    if (word.length > 1 && word.length <= 24 && used >= 2 && count >= 6)
      rated.push([word, count * Math.sqrt(Math.min(used, 20))])
  }
  const words = rated.sort(byRating).slice(0, Math.floor(size * wordShare) - vocabulary.length)
  const chosen = new Set([...vocabulary, ...words.map(([word]) => word)])
  for (const [piece] of piecesOf(totals, chosen)) {
    if (chosen.size >= size) break
    chosen.add(piece)
  }
  return [...chosen]
}

type Rated = [word: string, rating: number]

function byRating(one: Rated, other: Rated): number {
  return other[1] - one[1] || (one[0] < other[0] ? -1 : 1)
}

function countWords(documents: readonly Document[]): Map<string, number> {
  const counts = new Map<string, number>()
  const count = (text: string) => {
    for (const word of tokenWords(text)) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  for (const { title, description, sections } of documents) {
    count(title)
    count(description)
    for (const { path, text } of sections) {
      count(path.at(-1) ?? '')
      count(text)
    }
  }
  return counts
}

function lettersOf(totals: ReadonlyMap<string, number>): string[] {
  const letters = new Set<string>()
  for (const [word, count] of totals)
    if (count >= 20) for (const letter of word) if ((letter.codePointAt(0) ?? 0) <= lastLetter) letters.add(letter)
  return [...letters].sort()
}

function piecesOf(totals: ReadonlyMap<string, number>, chosen: ReadonlySet<string>): Rated[] {
  const ratings = new Map<string, number>()
  for (const [word, count] of [...totals].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (chosen.has(word) || count < 2 || word.length > 30 || !isLatin(word)) continue
    const weight = Math.min(count, 50) ** 0.75
    for (let from = 0; from < word.length; from++)
      for (let length = 2; length < 8 && from + length <= word.length; length++) {
        if (length === word.length) continue
        const piece = (from > 0 ? '##' : '') + word.slice(from, from + length)
        ratings.set(piece, (ratings.get(piece) ?? 0) + weight * (length - 0.7))
      }
  }
  return [...ratings].sort(byRating)
}

function isLatin(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (word.charCodeAt(at) > lastLetter) return false
  return !/^[0-9]/.test(word)
}
