import type { ForeignFormat, Found } from './reader.ts'

export interface Parse {
  format: ForeignFormat
  /** HTML is text, the others are bytes. */
  content: string | Uint8Array
}

const maxCharacters = 50_000_000

/** Throws `Unreadable` with the reason, anything else when the parser gave up. */
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

/**
 * What the parsing process runs, and this file, wherever a bundler put it: the process loads it from there. One object,
 * because a bundler leaves out what only another process uses.
 */
export const parser = { url: import.meta.url, parse }
