import type { Readers } from '../../core/knowledge-drivers.ts'
import { unreadable } from '../../core/knowledge-filter.ts'
import { decodeText } from './decode.ts'
import { htmlReader } from './html.ts'
import { markdownReader } from './markdown.ts'
import type { TextReader } from './reader.ts'
import { codeReader, dataReader, textReader } from './text.ts'

const table: readonly TextReader[] = [markdownReader, htmlReader, textReader, dataReader, codeReader]
/** Says nothing about the content, so the name decides. */
const undecided = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'text/plain'])

export const readers: Readers = {
  list: () => table.map(({ name, mediaTypes, extensions }) => ({ name, media_types: mediaTypes, extensions })),
  async read({ content, name, mediaType }) {
    const { text, encoding } = decodeText(content, name)
    const reader = findReader(name, mediaType)
    const read = await reader.read(text, name)
    return { ...read, metadata: { ...read.metadata, encoding, reader: reader.name }, reader: reader.name }
  },
}

function findReader(name: string | undefined, mediaType: string | undefined): TextReader {
  const type = (mediaType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const extension = /\.[a-z0-9]+$/.exec((name ?? '').toLowerCase())?.[0]
  const byType = table.find((reader) => reader.mediaTypes.includes(type))
  const byName = table.find((reader) => extension !== undefined && reader.extensions.includes(extension))
  if (byType && !undecided.has(type)) return byType
  if (byName) return byName
  if (type.startsWith('text/') || undecided.has(type) || /[+/](json|xml|yaml)$/.test(type)) return byType ?? textReader
  throw unreadable(name, `there is no reader for ${type}`)
}
