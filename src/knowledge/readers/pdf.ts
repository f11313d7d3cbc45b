import { Unreadable } from './markup/unreadable.ts'
import { linesOf, type PdfItem, type PdfLine } from './pdf-lines.ts'
import { pdfText } from './pdf-text.ts'
import type { Found } from './reader.ts'

const maxPages = 10_000

/** The text with a blank line between paragraphs, its headings and the starts of its pages; lines count in that text. */
export async function readPdf(bytes: Uint8Array): Promise<Found> {
  const { getDocumentProxy } = await import('unpdf')
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0, stopAtErrors: false }).catch(
    (error: unknown) => {
      throw new Unreadable(reasonOf(error))
    },
  )
  if (document.numPages > maxPages) throw new Unreadable(`it has more than ${maxPages} pages`)
  const lines: PdfLine[][] = []
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number).catch((error: unknown) => {
      throw new Unreadable(`its page ${number} is damaged: ${messageOf(error)}`)
    })
    const { items } = await page.getTextContent()
    lines.push(linesOf(items as PdfItem[]))
    page.cleanup()
  }
  const { text, pages, outline } = pdfText(lines)
  if (text.trim() === '') throw new Unreadable('it has no text; its pages may be pictures')
  const { info } = (await document.getMetadata().catch(() => undefined)) ?? {}
  const { Title: title, Author: author } = (info ?? {}) as Record<string, unknown>
  return {
    text,
    start: 0,
    metadata: {
      pages: document.numPages,
      ...(typeof title === 'string' && title.trim() !== '' ? { title: title.trim() } : {}),
      ...(typeof author === 'string' && author.trim() !== '' ? { author: author.trim() } : {}),
    },
    chunker: outline.length > 0 ? 'markdown' : 'paragraph',
    pages,
    outline,
  }
}

function reasonOf(error: unknown): string {
  const name = error instanceof Error ? error.name : ''
  if (name === 'PasswordException') return 'it is protected by a password'
  return `the PDF is damaged or cut off (${messageOf(error)})`
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 200).replace(/\.$/, '')
}
