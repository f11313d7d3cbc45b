import type { ReadText } from '../../core/knowledge/drivers.ts'

/** A reader's result; the caller adds `reader` and the fields that all texts share. */
export type Found = Omit<ReadText, 'reader'>

/** A text format, read on the calling thread in linear time. Throws `unreadable_document`. */
export interface TextReader {
  name: string
  mediaTypes: string[]
  /** Lower case, with the dot. */
  extensions: string[]
  read(text: string, name: string | undefined): Promise<Found> | Found
}

/** A format whose parser may take unlimited time or memory: read in a separate process. */
export interface ForeignReader extends Omit<TextReader, 'read'> {
  format: ForeignFormat
  /** The first bytes of every such file, if fixed; they take precedence over its name. */
  magic?: readonly number[]
}

export type ForeignFormat = 'html' | 'pdf' | 'docx'

/** Why a document can't be read, as the end of the sentence "… can't be read: ". */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}
