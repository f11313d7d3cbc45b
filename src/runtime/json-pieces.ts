import { jsonSize } from './json-size.ts'
import { yieldToLoop } from './yield.ts'

/** Deep enough for the text of a message's part in a page of runs. */
const deepest = 8
/** What is worth looking into. */
const maxEntries = 1000
const pieceCharacters = 256 * 1024

/** What JSON.stringify makes of a value, `null` of none, in pieces: large texts are cut, what is small comes as it is. */
export function jsonPieces(value: unknown): Generator<string> {
  return piecesOf(value, deepest)
}

/** The same as one text, made in several turns of the event loop when it is large. */
export async function jsonInTurns(value: unknown): Promise<string> {
  const pieces: string[] = []
  let isLarge = false
  let made = 0
  for (const piece of jsonPieces(value)) {
    pieces.push(piece)
    made += piece.length
    if (made < pieceCharacters) continue
    isLarge = true
    made = 0
    await yieldToLoop()
  }
  const text = pieces.join('')
  if (isLarge) await yieldToLoop()
  return text
}

/** Whether the JSON of a value is so long that it had better be made in turns. */
export function isLargeJson(value: unknown): boolean {
  return jsonSize(value, pieceCharacters) >= pieceCharacters
}

function* piecesOf(value: unknown, depth: number): Generator<string> {
  if (typeof value === 'string' && value.length > pieceCharacters) {
    yield* cut(value)
    return
  }
  const entries = depth > 0 ? entriesOf(value) : undefined
  if (entries === undefined) {
    yield JSON.stringify(value) ?? 'null'
    return
  }
  const isList = Array.isArray(value)
  let before = isList ? '[' : '{'
  for (const [name, field] of entries) {
    yield isList ? before : `${before}${JSON.stringify(name)}:`
    yield* piecesOf(field, depth - 1)
    before = ','
  }
  if (entries.length === 0) yield before
  yield isList ? ']' : '}'
}

function* cut(text: string): Generator<string> {
  yield '"'
  for (let from = 0; from < text.length; ) {
    let to = from + pieceCharacters
    // The halves of a pair are escaped when each stands alone.
    if (isHighSurrogate(text.charCodeAt(to - 1))) to--
    yield JSON.stringify(text.slice(from, to)).slice(1, -1)
    from = to
  }
  yield '"'
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/** Undefined for what JSON.stringify has to look at as a whole. */
function entriesOf(value: unknown): [string, unknown][] | undefined {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined
  // Of a long list even the list of its entries takes long.
  if (Array.isArray(value) && value.length > maxEntries) return undefined
  const entries = Object.entries(value)
  if (entries.length > maxEntries) return undefined
  return Array.isArray(value) ? entries : entries.filter(([, field]) => field !== undefined)
}
