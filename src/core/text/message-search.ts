import { type Message, type Role, textOf } from '../message.ts'
import type { SessionFilter } from '../store.ts'
import { wordsOf } from './terms.ts'

/** A word, or the beginning of one, that a message must contain. */
export interface SearchWord {
  word: string
  isBeginning: boolean
}

/** A search in messages, without those of child runs. */
export interface MessageSearch extends SessionFilter {
  /** All of them must match; at least one word. */
  words: readonly SearchWord[]
  session_id?: string | undefined
  /** Only what this user may read: the user's sessions, and earlier ones up to their handover. */
  reader?: string | undefined
}

export interface MessageHit {
  session_id: string
  run_id: string
  message_id: string
  entity_id: string
  role: Role
  created_at: string
  /** The text around the first word, on one line. */
  snippet: string
  /** Another run has taken the place of its turn. */
  replaced?: true
}

/** A part of a text, in UTF-16 units. */
export interface TextRange {
  start: number
  /** After its last character. */
  end: number
}

/** With the places in the snippet of the words that were looked for. */
export interface MarkedHit extends MessageHit {
  marks: TextRange[]
}

/** Words are extracted in pieces of this size, so that a long text can yield to other work. */
const pieceCharacters = 16 * 1024
const snippetBefore = 60
const snippetCharacters = 200
const cutCharacters = 20
const ascii = /^[\0-\x7f]*$/

/** The words of a query, which match in any order; `open*` matches a prefix. Empty when the query has no word. */
export function searchWordsOf(query: string): SearchWord[] {
  const found = new Map<string, SearchWord>()
  for (const term of query.split(/\s+/)) {
    // Lower case first: a search for `maxBytes` means the identifier, not its parts.
    const words = wordsOf(term.toLowerCase())
    for (const [place, word] of words.entries()) {
      const isBeginning = term.endsWith('*') && place === words.length - 1
      found.set(`${word}${isBeginning ? '*' : ''}`, { word, isBeginning })
    }
  }
  return [...found.values()]
}

/** The searchable text of a message: its text, and its data as JSON. */
export function searchTextOf({ content, parts }: Pick<Message, 'content' | 'parts'>): string {
  const data = parts.flatMap((part) => (part.type === 'data' ? [JSON.stringify(part.data)] : []))
  return [content, ...data].join('\n')
}

export function messageText(parts: Message['parts']): string {
  return searchTextOf({ content: textOf(parts), parts })
}

interface Piece {
  at: number
  text: string
}

/** Cuts at spaces where possible. */
export function* piecesOf(text: string): Generator<Piece> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + pieceCharacters)
    if (end < text.length) {
      // Looked for in the piece alone: in the text, what it does not have would be looked for up to its beginning.
      const piece = text.slice(at, end + 1)
      const space = Math.max(piece.lastIndexOf(' '), piece.lastIndexOf('\n'))
      if (space > 0) end = at + space + 1
    }
    yield { at, text: text.slice(at, end) }
    at = end
  }
}

/** A snippet when the text has all words, else undefined. Yields after each piece of a long text. */
export function* findWords(text: string, wanted: readonly SearchWord[]): Generator<void, string | undefined> {
  if (ascii.test(text) && !mayHold(text, wanted)) return undefined
  const missing = new Set(wanted)
  let place: number | undefined
  for (const piece of piecesOf(text)) {
    const words = wordsOf(piece.text)
    const known = new Set(words)
    for (const one of missing) if (isAmong(one, known, words)) missing.delete(one)
    if (place === undefined && missing.size < wanted.length) place = piece.at + placeIn(piece.text, wanted)
    if (missing.size === 0) return snippetAt(text, place ?? 0)
    yield
  }
  return undefined
}

/** Where the text has the words, each as a whole: the identifier, not the part of it that was looked for. */
export function marksIn(text: string, wanted: readonly SearchWord[]): TextRange[] {
  return [...text.matchAll(/[\p{L}\p{N}\p{M}_]+/gu)].flatMap(({ 0: token, index }) => {
    const words = wordsOf(token)
    const known = new Set(words)
    return wanted.some((one) => isAmong(one, known, words)) ? [{ start: index, end: index + token.length }] : []
  })
}

function isAmong({ word, isBeginning }: SearchWord, known: ReadonlySet<string>, words: readonly string[]): boolean {
  return known.has(word) || (isBeginning && words.some((other) => other.startsWith(word)))
}

/** A quick check without false negatives: the words of an ASCII text are substrings of it. */
function mayHold(text: string, wanted: readonly SearchWord[]): boolean {
  const lower = text.toLowerCase()
  return wanted.every(({ word }) => lower.includes(word))
}

function placeIn(text: string, wanted: readonly SearchWord[]): number {
  for (const { 0: chunk, index } of text.matchAll(/\S+/g)) {
    const words = wordsOf(chunk)
    const known = new Set(words)
    const found = wanted.find((one) => isAmong(one, known, words))
    if (found !== undefined) return index + Math.max(0, chunk.toLowerCase().indexOf(found.word))
  }
  return 0
}

/** On one line; starts and ends between words when they are short. */
function snippetAt(text: string, place: number): string {
  let from = Math.max(0, place - snippetBefore)
  let to = Math.min(text.length, from + snippetCharacters)
  if (from > 0) {
    const space = text.slice(from, Math.min(place, from + cutCharacters)).search(/\s/)
    if (space >= 0) from += space + 1
    else if (isLowSurrogate(text, from)) from++
  }
  if (to < text.length) {
    const space = text.slice(to - cutCharacters, to).search(/\s\S*$/)
    if (space >= 0) to += space - cutCharacters
    else if (isLowSurrogate(text, to)) to--
  }
  const shown = text.slice(from, to).replace(/\s+/g, ' ').trim()
  return `${from > 0 ? '…' : ''}${shown}${to < text.length ? '…' : ''}`
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}
