import type { ReadText } from '../../core/knowledge/drivers.ts'

/** What a reader finds; `reader` and what is true of all texts is added by whoever called it. */
export type Found = Omit<ReadText, 'reader'>

/** A format that is text: read here and now, in time that grows with its length alone. Throws `unreadable_document`. */
export interface TextReader {
  name: string
  mediaTypes: string[]
  /** Lower case, with the dot. */
  extensions: string[]
  read(text: string, name: string | undefined): Promise<Found> | Found
}

/** A format whose parser may take time or memory without end: read in another process. */
export interface ForeignReader extends Omit<TextReader, 'read'> {
  format: ForeignFormat
  /** How its bytes begin, when they always do; what begins so is this format whatever it is called. */
  magic?: readonly number[]
}

export type ForeignFormat = 'html' | 'pdf' | 'docx'

/** Why a document can't be read, as the end of the sentence "… can't be read: ". */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}
