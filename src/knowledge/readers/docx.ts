import { readHtml } from './html.ts'
import { type Found, Unreadable } from './reader.ts'
import { inspectArchive } from './zip.ts'

const limits = { entries: 5_000, bytes: 200_000_000, ratio: 100 }
const others: readonly [name: string, kind: string][] = [
  ['xl/workbook.xml', 'an Excel workbook'],
  ['ppt/presentation.xml', 'a PowerPoint presentation'],
  ['META-INF/manifest.xml', 'an OpenDocument file'],
  ['META-INF/container.xml', 'an EPUB book'],
]

/** A Word document as Markdown, with descriptions instead of pictures; line numbers refer to the Markdown. */
export async function readDocx(bytes: Uint8Array): Promise<Found> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const names = inspectArchive(buffer, limits)
  if (!names.some((name) => /^word\/document\d*\.xml$/.test(name))) {
    const kind = others.find(([name]) => names.includes(name))?.[1] ?? 'a ZIP archive'
    throw new Unreadable(`it is ${kind}, which has no reader`)
  }
  const { default: mammoth } = await import('mammoth')
  const noPictures = mammoth.images.imgElement(async () => ({ src: '' }))
  const { value } = await mammoth.convertToHtml({ buffer }, { convertImage: noPictures, externalFileAccess: false })
  if (value.trim() === '') throw new Unreadable('it has no text')
  const { text, metadata, ...found } = await readHtml(`<main>${value}</main>`)
  return { ...found, text, metadata }
}
