import { jsonSize } from './json-size.ts'
import { yieldToLoop } from './yield.ts'

/** JSON of megabytes without blocking the event loop: one such value would delay every other request by some 100 ms. */

/** Enough for the text of a message's part in a page of runs. */
const maxDepth = 8
/** A longer list or object is stringified as a whole. */
const maxEntries = 1000
const pieceCharacters = 256 * 1024

/** Whether the JSON of a value is so long that it should be made in pieces. */
export function isLarge(value: unknown): boolean {
  return jsonSize(value, pieceCharacters) >= pieceCharacters
}

/** Like JSON.stringify (`null` for undefined), but yields to the event loop. */
export async function stringifyLarge(value: unknown): Promise<string> {
  const pieces: string[] = []
  for await (const piece of largePieces(value)) pieces.push(piece)
  const text = pieces.join('')
  if (pieces.length > 1) await yieldToLoop()
  return text
}

/** The same as bytes, one piece per read. */
export async function* encodeLarge(value: unknown): AsyncGenerator<Uint8Array> {
  for await (const piece of largePieces(value)) yield Buffer.from(piece)
}

async function* largePieces(value: unknown): AsyncGenerator<string> {
  let text = ''
  for (const piece of jsonPieces(value)) {
    text += piece
    if (text.length < pieceCharacters) continue
    yield text
    text = ''
    await yieldToLoop()
  }
  if (text !== '') yield text
}

/** Cuts large texts; small values come whole. */
export function jsonPieces(value: unknown): Generator<string> {
  return piecesOf(value, maxDepth)
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
    // JSON.stringify escapes half of a surrogate pair.
    if (isHighSurrogate(text.charCodeAt(to - 1))) to--
    yield JSON.stringify(text.slice(from, to)).slice(1, -1)
    from = to
  }
  yield '"'
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/** Undefined for values that JSON.stringify must see as a whole. */
function entriesOf(value: unknown): [string, unknown][] | undefined {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined
  // Listing the entries of a long list is itself slow.
  if (Array.isArray(value) && value.length > maxEntries) return undefined
  const entries = Object.entries(value)
  if (entries.length > maxEntries) return undefined
  return Array.isArray(value) ? entries : entries.filter(([, field]) => field !== undefined)
}
