import { jsonPieces } from '../runtime/json-pieces.ts'
import { yieldToLoop } from '../runtime/yield.ts'

const charactersPerTurn = 256 * 1024

/** The JSON of a value that may be large, piece by piece as it is asked for, each in a turn of its own. */
export async function* encodeInTurns(value: unknown): AsyncGenerator<Uint8Array> {
  let text = ''
  for (const piece of jsonPieces(value)) {
    text += piece
    if (text.length < charactersPerTurn) continue
    yield Buffer.from(text)
    text = ''
    await yieldToLoop()
  }
  if (text !== '') yield Buffer.from(text)
}
