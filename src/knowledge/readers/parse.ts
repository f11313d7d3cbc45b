import type { ForeignFormat, ForeignFound } from './reader.ts'

export interface Parse {
  format: ForeignFormat
  /** HTML is text, the others are bytes. */
  content: string | Uint8Array
}

/** Throws `Unreadable` with the reason; any other error comes from the parser. */
async function parse(work: Parse): Promise<ForeignFound> {
  const [found, { assertLength }] = await Promise.all([read(work), import('./markup/unreadable.ts')])
  assertLength(found.text.length)
  return { ...found, text: found.text.toWellFormed() }
}

async function read({ format, content }: Parse): Promise<ForeignFound> {
  if (typeof content === 'string') return (await import('./markup/html.ts')).readHtml(content)
  if (format === 'pdf') return (await import('./pdf.ts')).readPdf(content)
  if (format === 'mail') return (await import('./mail/mail.ts')).readMail(content)
  if (format === 'rtf') return (await import('./rtf.ts')).readRtf(content)
  return (await import('./office/office.ts')).readOffice(content)
}

/** The parsing process loads this file from `url`. One object: a bundler would remove a separate `parse`. */
export const parser = { url: import.meta.url, parse }
