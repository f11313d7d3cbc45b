import type { FileContent } from '../../core/knowledge/drivers.ts'
import { unreadable } from '../../core/knowledge/filter.ts'
import { assertText, decodeText, isKnown, markedEncoding } from '../readers/decode.ts'
import type { PartEnd } from '../readers/reader.ts'
import { binaryKind } from '../readers/signatures.ts'
import { boundaryBefore } from '../words/graphemes.ts'

/** So many that vectors are written in large batches, and so few that two parts take little memory. */
const partCharacters = 1_000_000

/** The encoding of a file. `named`: of text that is not UTF-8. Throws `unreadable_document`. */
export async function encodingOf(
  { head, foreign }: Pick<FileContent, 'head' | 'foreign'>,
  name: string,
  named: string | undefined,
): Promise<string> {
  const kind = binaryKind(head)
  if (kind !== undefined) throw unreadable(name, `it is ${kind}, which has no reader`)
  const marked = markedEncoding(head)
  if (marked === undefined && foreign === undefined) return 'utf-8'
  return marked ?? named ?? (await decodeText(foreign ?? head, name)).encoding
}

/** The text of the pieces in parts that end between lines, where `partEnd` says if it finds a place. */
export async function* textParts(
  pieces: AsyncIterable<Uint8Array>,
  { encoding, name, partEnd }: { encoding: string; name: string; partEnd: PartEnd },
): AsyncGenerator<string> {
  if (!isKnown(encoding)) throw unreadable(name, `it can't be decoded as ${encoding}`)
  const decoder = new TextDecoder(encoding, { fatal: true })
  const decode = (piece?: Uint8Array) => {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode()
    } catch {
      throw unreadable(name, `it can't be decoded as ${encoding}`)
    }
  }
  let text = ''
  function* cut(most: number): Generator<string> {
    while (text.length > most) {
      const end = endOf(text.slice(0, partCharacters), partEnd)
      yield assertText(text.slice(0, end), name)
      text = text.slice(end)
    }
  }
  for await (const piece of pieces) {
    text += decode(piece)
    yield* cut(partCharacters * 2)
  }
  text += decode()
  yield* cut(partCharacters)
  if (text !== '') yield assertText(text, name)
}

function endOf(text: string, partEnd: PartEnd): number {
  const least = text.length / 2
  const wanted = partEnd(text) ?? 0
  if (wanted >= least) return wanted
  const line = text.lastIndexOf('\n') + 1
  if (line >= least) return line
  const space = text.lastIndexOf(' ') + 1
  if (space >= least) return space
  return boundaryBefore(text, text.length - 1, 0) || text.length
}
