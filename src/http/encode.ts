import { nextTurn } from '../core/turn.ts'

/** Deep enough for the text of a message's part in an answer. */
const deepest = 5
/** What is worth looking into. */
const mostEntries = 1000
const charactersAPiece = 1024 * 1024

/** The JSON of a value that may be large, piece by piece as it is asked for, each in a turn of its own. */
export async function* encodeInTurns(value: unknown): AsyncGenerator<Uint8Array> {
  let small = ''
  for (const text of textsOf(value, deepest)) {
    if (text.length < charactersAPiece) small += text
    else {
      // Joined, both would be copied once more.
      if (small !== '') yield Buffer.from(small)
      small = ''
      await nextTurn()
      yield Buffer.from(text)
      await nextTurn()
    }
    if (small.length < charactersAPiece) continue
    yield Buffer.from(small)
    small = ''
    await nextTurn()
  }
  if (small !== '') yield Buffer.from(small)
}

function* textsOf(value: unknown, depth: number): Generator<string> {
  const entries = depth > 0 ? entriesOf(value) : undefined
  if (entries === undefined) {
    yield JSON.stringify(value) ?? 'null'
    return
  }
  const isList = Array.isArray(value)
  let before = isList ? '[' : '{'
  for (const [name, field] of entries) {
    yield isList ? before : `${before}${JSON.stringify(name)}:`
    yield* textsOf(field, depth - 1)
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
