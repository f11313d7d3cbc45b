import type { JsonObject } from '../../core/json.ts'
import type { Readers, ReadText } from '../../core/knowledge/drivers.ts'
import { unreadable } from '../../core/knowledge/filter.ts'
import { codeReader } from './code.ts'
import { dataReader } from './data.ts'
import { declaredCharset, decodeText } from './decode.ts'
import { markdownReader } from './markdown.ts'
import { notebookReader } from './notebook.ts'
import { createParsers, type ParserLimits } from './parsers.ts'
import type { ForeignReader, Found, TextReader } from './reader.ts'
import { beginsWith, binaryKind } from './signatures.ts'
import { tableReader } from './table.ts'
import { asciidocReader, orgReader, restructuredReader, textReader } from './text.ts'

const htmlReader: ForeignReader = {
  name: 'html',
  format: 'html',
  mediaTypes: ['text/html', 'application/xhtml+xml'],
  extensions: ['.html', '.htm', '.xhtml'],
}
const pdfReader: ForeignReader = {
  name: 'pdf',
  format: 'pdf',
  mediaTypes: ['application/pdf'],
  extensions: ['.pdf'],
  magic: [0x25, 0x50, 0x44, 0x46, 0x2d],
}
const zipMagic = [0x50, 0x4b, 0x03, 0x04]
const office = 'application/vnd.openxmlformats-officedocument'
/** Archives of XML: whatever it is called, the files inside tell which it is. */
const officeReaders: readonly ForeignReader[] = [
  ['docx', [`${office}.wordprocessingml.document`], ['.docx']] as const,
  [
    'xlsx',
    [`${office}.spreadsheetml.sheet`, 'application/vnd.ms-excel.sheet.macroEnabled.12'],
    ['.xlsx', '.xlsm'],
  ] as const,
  [
    'pptx',
    [
      `${office}.presentationml.presentation`,
      `${office}.presentationml.slideshow`,
      'application/vnd.ms-powerpoint.presentation.macroEnabled.12',
    ],
    ['.pptx', '.pptm', '.ppsx'],
  ] as const,
  ['epub', ['application/epub+zip'], ['.epub']] as const,
  ['odt', ['application/vnd.oasis.opendocument.text'], ['.odt', '.ott']] as const,
].map(([name, mediaTypes, extensions]) => ({
  name,
  format: 'office',
  mediaTypes: mediaTypes.map((type) => type.toLowerCase()),
  extensions: [...extensions],
  magic: zipMagic,
}))
const mailReader: ForeignReader = {
  name: 'mail',
  format: 'mail',
  mediaTypes: ['message/rfc822', 'application/mbox'],
  extensions: ['.eml', '.mbox'],
}
const rtfReader: ForeignReader = {
  name: 'rtf',
  format: 'rtf',
  mediaTypes: ['application/rtf', 'text/rtf'],
  extensions: ['.rtf'],
  magic: [0x7b, 0x5c, 0x72, 0x74, 0x66],
}
const table: readonly (TextReader | ForeignReader)[] = [
  markdownReader,
  htmlReader,
  pdfReader,
  ...officeReaders,
  mailReader,
  rtfReader,
  textReader,
  restructuredReader,
  asciidocReader,
  orgReader,
  notebookReader,
  tableReader,
  dataReader,
  codeReader,
]
/** These types say nothing about the content, so the name decides. */
const undecided = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'text/plain', 'application/zip'])

export function createReaders(limits?: Partial<ParserLimits>): Readers {
  const parser = createParsers(limits)
  return {
    list: () => table.map(({ name, mediaTypes, extensions }) => ({ name, media_types: mediaTypes, extensions })),
    async read({ content, name, mediaType, signal }) {
      const reader = findReader(content, name, mediaType)
      if ('format' in reader && reader.format !== 'html') {
        const bytes = assertMagic(reader, content, name)
        const found = await parser.parse({ format: reader.format, content: bytes, name }, signal)
        return described(found.reader ?? reader.name, found, {})
      }
      const { text, encoding } = await decodeText(content, name, declaredCharset(reader.name, content, mediaType))
      const found =
        'read' in reader
          ? await reader.read(text, name)
          : await parser.parse({ format: reader.format, content: text, name }, signal)
      return described(reader.name, found, { encoding })
    },
    close: () => parser.close(),
  }
}

export const readers = createReaders()

/** Whether a separate process parses the document. Throws `unreadable_document` when no reader fits. */
export function needsParser({ content, name, mediaType }: Parameters<Readers['read']>[0]): boolean {
  return 'format' in findReader(content, name, mediaType)
}

/** The reader of a format that can be read in parts. Throws `unreadable_document` when no reader fits. */
export function partReader(
  head: Uint8Array,
  name: string | undefined,
  mediaType: string | undefined,
): Required<TextReader> | undefined {
  const reader = findReader(head, name, mediaType)
  return 'partEnd' in reader && reader.partEnd ? { ...reader, partEnd: reader.partEnd } : undefined
}

/** A part of a text whose reader takes parts; `before` is the `reading` of the part before. */
export async function readTextPart(
  text: string,
  {
    name,
    mediaType,
    encoding,
    before,
  }: { name: string; mediaType: string | undefined; encoding: string; before: JsonObject | undefined },
): Promise<ReadText> {
  const reader = findReader(text, name, mediaType)
  const found = 'read' in reader ? await reader.read(text, name, before) : undefined
  if (found === undefined) throw unreadable(name, 'it can only be read whole')
  return described(reader.name, found, { encoding })
}

function described(reader: string, found: Found, more: { encoding?: string }): ReadText {
  return { ...found, metadata: { ...found.metadata, ...more, reader }, reader }
}

function findReader(
  content: string | Uint8Array,
  name: string | undefined,
  mediaType: string | undefined,
): TextReader | ForeignReader {
  const head = typeof content === 'string' ? Buffer.from(content.slice(0, 16)) : content
  const byContent = table.find((reader) => 'magic' in reader && reader.magic && beginsWith(head, reader.magic))
  if (byContent) return byContent
  const type = (mediaType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const extension = /\.[a-z0-9]+$/.exec((name ?? '').toLowerCase())?.[0]
  const byType = table.find((reader) => reader.mediaTypes.includes(type))
  const byName = table.find((reader) => extension !== undefined && reader.extensions.includes(extension))
  if (byType && !undecided.has(type)) return byType
  if (byName) return byName
  if (type.startsWith('text/') || undecided.has(type) || /[+/](json|xml|yaml)$/.test(type)) return byType ?? textReader
  throw unreadable(name, `there is no reader for ${type}`)
}

/** A file that is all ASCII may come as text. */
function assertMagic(reader: ForeignReader, content: string | Uint8Array, name: string | undefined): Uint8Array {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  if (reader.magic && !beginsWith(bytes, reader.magic)) {
    const kind = binaryKind(bytes)
    const format = reader.name.toUpperCase()
    const article = /^[EORX]/.test(format) ? 'an' : 'a'
    throw unreadable(
      name,
      kind ? `it is ${kind}, no ${format} file` : `it does not begin like ${article} ${format} file`,
    )
  }
  return bytes
}
