import type { MessageSearch } from '../../../../core/text/message-search.ts'
import { sessionTerm } from '../../../rules/message-search.ts'

/** Words as Postgres' parser never sees them: each is quoted. */

/** Postgres takes words of up to 2,046 bytes; longer ones are found by their beginning. */
const wordCharacters = 500
/** Postgres takes 1 MB of words; what a run has beyond is not found. */
const maxBytes = 1_000_000

/** The text of a tsvector. */
export function toLexemes(words: Iterable<string>): string {
  let text = ''
  let bytes = 0
  for (const word of words) {
    const lexeme = toLexeme(word)
    bytes += Buffer.byteLength(lexeme)
    if (bytes > maxBytes) break
    text += `${lexeme} `
  }
  return text
}

/** The text of a tsquery that the words of a run fulfil when it may have a match. */
export function toQuery({ words, session_id }: MessageSearch): string {
  const terms = words.map(({ word, isBeginning }) => `${toLexeme(word)}${isBeginning ? ':*' : ''}`)
  if (session_id !== undefined) terms.push(toLexeme(sessionTerm(session_id)))
  return terms.join(' & ')
}

function toLexeme(word: string): string {
  const cut = word.length > wordCharacters ? word.slice(0, wordCharacters).replace(/[\ud800-\udbff]$/, '') : word
  return `'${cut.replaceAll(/['\\]/g, '$&$&')}'`
}
