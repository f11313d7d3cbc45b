import type { ReadText } from '../../core/knowledge-drivers.ts'

/** One format. `read` gets text without a byte order mark and throws `unreadable_document`. */
export interface TextReader {
  name: string
  mediaTypes: string[]
  /** Lower case, with the dot. */
  extensions: string[]
  read(text: string, name: string | undefined): Promise<Omit<ReadText, 'reader'>> | Omit<ReadText, 'reader'>
}
