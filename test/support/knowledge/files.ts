import { deflateRawSync } from 'node:zlib'

export interface ZipEntry {
  name: string
  content: string | Buffer
  /** What the directory says of its size, when that is a lie. */
  claimedSize?: number
}

/** A ZIP archive, byte by byte, so that it can also be a wrong one. Checksums are right. */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const content = Buffer.from(entry.content)
    const packed = deflateRawSync(content)
    const name = Buffer.from(entry.name)
    const size = entry.claimedSize ?? content.length
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(checksum(content), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(size, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, tail, name]))
    locals.push(local)
    offset += local.length
  }
  const index = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(index.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, index, end])
}

function checksum(bytes: Buffer): number {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0)
  }
  return (sum ^ 0xffffffff) >>> 0
}

const wordNamespace = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
const officeType = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument'

/** The parts of a Word document whose body is this XML. */
export function docxEntries(body: string, prologue = ''): ZipEntry[] {
  const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
  const types = 'http://schemas.openxmlformats.org/package/2006/content-types'
  const relations = 'http://schemas.openxmlformats.org/package/2006/relationships'
  const main = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'
  return [
    {
      name: '[Content_Types].xml',
      content: `${xml}<Types xmlns="${types}"><Override PartName="/word/document.xml" ContentType="${main}"/></Types>`,
    },
    {
      name: '_rels/.rels',
      content: `${xml}<Relationships xmlns="${relations}"><Relationship Id="r1" Type="${officeType}" Target="word/document.xml"/></Relationships>`,
    },
    {
      name: 'word/document.xml',
      content: `${xml}${prologue}<w:document xmlns:w="${wordNamespace}"><w:body>${body}</w:body></w:document>`,
    },
  ]
}

export function paragraph(text: string, style?: string): string {
  const look = style === undefined ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`
  return `<w:p>${look}<w:r><w:t>${text}</w:t></w:r></w:p>`
}

export interface PdfOptions {
  /** Put into the trailer. */
  trailer?: string
  /** Instead of the page's own stream dictionary and bytes. */
  stream?: { dictionary: string; bytes: Buffer }
  /** Objects after the others. */
  more?: string[]
}

/** A PDF with a page for each list of lines; two empty strings in a row are a gap. */
export function pdf(pages: readonly (readonly string[])[], options: PdfOptions = {}): Buffer {
  const objects: (string | Buffer)[] = []
  const kids = pages.map((_lines, at) => `${4 + at * 2} 0 R`).join(' ')
  objects.push('<< /Type /Catalog /Pages 2 0 R >>')
  objects.push(`<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`)
  objects.push('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>')
  for (const [at, lines] of pages.entries()) {
    const drawn = lines.map((line) => (line === '' ? '0 -20 Td' : `(${line}) Tj 0 -14 Td`)).join('\n')
    const content = Buffer.from(`BT /F1 12 Tf 72 720 Td\n${drawn}\nET`)
    const { dictionary, bytes } = options.stream ?? { dictionary: `/Length ${content.length}`, bytes: content }
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + at * 2} 0 R >>`,
    )
    objects.push(Buffer.concat([Buffer.from(`<< ${dictionary} >>\nstream\n`), bytes, Buffer.from('\nendstream')]))
  }
  objects.push(...(options.more ?? []))
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')]
  const places: number[] = []
  let length = parts[0]?.length ?? 0
  for (const [at, object] of objects.entries()) {
    const part = Buffer.concat([Buffer.from(`${at + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')])
    places.push(length)
    parts.push(part)
    length += part.length
  }
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${options.trailer ?? ''} >>\nstartxref\n${length}\n%%EOF\n`
  parts.push(Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${trailer}`))
  return Buffer.concat(parts)
}
