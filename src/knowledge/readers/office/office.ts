import { Unreadable } from '../markup/unreadable.ts'
import type { ForeignFound, Found } from '../reader.ts'
import { type Archive, openArchive } from './zip.ts'

interface Kind {
  reader: string
  /** One of its files has this name. */
  has: RegExp
  read(archive: Archive, bytes: Uint8Array): Promise<Found>
}

const kinds: readonly Kind[] = [
  {
    reader: 'docx',
    has: /^word\/document\d*\.xml$/,
    read: async (archive, bytes) => (await import('./docx.ts')).readDocx(archive, bytes),
  },
  {
    reader: 'xlsx',
    has: /^xl\/workbook\.xml$/,
    read: async (archive) => (await import('./xlsx.ts')).readXlsx(archive),
  },
  {
    reader: 'pptx',
    has: /^ppt\/presentation\.xml$/,
    read: async (archive) => (await import('./pptx.ts')).readPptx(archive),
  },
  {
    reader: 'epub',
    has: /^META-INF\/container\.xml$/,
    read: async (archive) => (await import('./epub.ts')).readEpub(archive),
  },
  { reader: 'odt', has: /^content\.xml$/, read: async (archive) => (await import('./odt.ts')).readOdt(archive) },
]
const others: readonly [has: RegExp, kind: string][] = [[/^xl\/workbook\.bin$/, 'a binary Excel workbook (.xlsb)']]

/** Office and OpenDocument files and books are archives of the same kind: their files tell what they are. */
export async function readOffice(bytes: Uint8Array): Promise<ForeignFound> {
  const archive = openArchive(bytes)
  const kind = kinds.find(({ has }) => archive.names.some((name) => has.test(name)))
  if (kind) return { ...(await kind.read(archive, bytes)), reader: kind.reader }
  const other = others.find(([has]) => archive.names.some((name) => has.test(name)))?.[1] ?? 'a ZIP archive'
  throw new Unreadable(`it is ${other}, which has no reader`)
}
