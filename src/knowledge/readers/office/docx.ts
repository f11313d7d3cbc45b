import { readHtml } from '../markup/html.ts'
import { Unreadable } from '../markup/unreadable.ts'
import type { Found } from '../reader.ts'
import { declaresEntities, withEntities } from './parts.ts'
import type { Archive } from './zip.ts'

/** A Word document as Markdown, with descriptions instead of pictures; line numbers refer to the Markdown. */
export async function readDocx(archive: Archive, bytes: Uint8Array): Promise<Found> {
  // The library unpacks by itself: every size and document type is checked before.
  for (const name of archive.names) {
    const content = archive.bytes(name)
    if (content && /\.(xml|rels|vml)$/i.test(name) && declaresEntities(content.toString('latin1'))) throw withEntities()
  }
  const { default: mammoth } = await import('mammoth')
  const noPictures = mammoth.images.imgElement(async () => ({ src: '' }))
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const options = { convertImage: noPictures, externalFileAccess: false }
  const { value } = await mammoth.convertToHtml({ buffer }, options).catch((error: unknown) => {
    // The library calls itself for each element inside another.
    throw error instanceof RangeError ? new Unreadable('its elements are nested too deep') : error
  })
  if (value.trim() === '') throw new Unreadable('it has no text')
  return readHtml(`<main>${value}</main>`)
}
