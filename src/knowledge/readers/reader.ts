import type { JsonObject } from '../../core/json.ts'
import type { ReadText } from '../../core/knowledge/drivers.ts'

/** A reader's result; the caller adds `reader` and the fields that all texts share. */
export type Found = Omit<ReadText, 'reader'>

/** A text format, read on the calling thread in linear time. Throws `unreadable_document`. */
export interface TextReader {
  name: string
  mediaTypes: string[]
  /** Lower case, with the dot. */
  extensions: string[]
  /** `before`: what this reader gave as `reading` for the part before this one. */
  read(text: string, name: string | undefined, before?: JsonObject): Promise<Found> | Found
  /** Where a part of a longer text should end; undefined when the text has no such place. Without it: read whole. */
  partEnd?: PartEnd
}

export type PartEnd = (text: string) => number | undefined

/** A format whose parser may take unlimited time or memory: read in a separate process. */
export interface ForeignReader extends Omit<TextReader, 'read' | 'partEnd'> {
  format: ForeignFormat
  /** The first bytes of every such file, if fixed; they take precedence over its name. */
  magic?: readonly number[]
}

/** HTML is given as text, the others are given as bytes. `office`: what is a ZIP archive with XML. */
export type ForeignFormat = 'html' | 'pdf' | 'office' | 'mail' | 'rtf'

/** `reader`: its name, when only the content tells. */
export type ForeignFound = Found & { reader?: string }
