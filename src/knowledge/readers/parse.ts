import type { ForeignFormat, Found } from './reader.ts'

export interface Parse {
  format: ForeignFormat
  /** HTML is text, the others are bytes. */
  content: string | Uint8Array
}

const maxCharacters = 50_000_000

/** Throws `Unreadable` with the reason; any other error comes from the parser. */
async function parse(work: Parse): Promise<Found> {
  const found = await read(work)
  if (found.text.length <= maxCharacters) return found
  const { Unreadable } = await import('./reader.ts')
  throw new Unreadable(`it has more than ${maxCharacters / 1e6} million characters of text`)
}

async function read(work: Parse): Promise<Found> {
  const { format, content } = work
  if (typeof content === 'string') return (await import('./html.ts')).readHtml(content)
  if (format === 'pdf') return (await import('./pdf.ts')).readPdf(content)
  return (await import('./docx.ts')).readDocx(content)
}

/** The parsing process loads this file from `url`. One object: a bundler would remove a separate `parse`. */
export const parser = { url: import.meta.url, parse }
