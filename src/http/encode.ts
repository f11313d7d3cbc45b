import { nextTurn } from './turn.ts'

/** Deep enough for the text of a message's part in an answer. */
const deepest = 5
/** What is worth looking into. */
const mostEntries = 1000
const bytesATurn = 2 * 1024 * 1024

/** The JSON of a value that may be large, made in several turns of the event loop. */
export async function encodeInTurns(value: unknown): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let made = 0
  for (const piece of piecesOf(value, deepest)) {
    const bytes = Buffer.from(piece)
    pieces.push(bytes)
    made += bytes.length
    if (made < bytesATurn) continue
    made = 0
    await nextTurn()
  }
  return Buffer.concat(pieces)
}

function* piecesOf(value: unknown, depth: number): Generator<string> {
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

/** Undefined for what JSON.stringify has to look at as a whole. */
function entriesOf(value: unknown): [string, unknown][] | undefined {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined
  const entries = Object.entries(value)
  if (entries.length > mostEntries) return undefined
  return Array.isArray(value) ? entries : entries.filter(([, field]) => field !== undefined)
}
