import { deflateSync } from 'node:zlib'
import { docxEntries, paragraph, pdf, type ZipEntry, zip } from './files.ts'

export interface DamagedDocument {
  name: string
  content: Buffer
  /** What the reason has to say. */
  reason: RegExp
}

const megabytes = (count: number, byte = 0) => Buffer.alloc(count * 1_000_000, byte)
const goodPdf = pdf([['The harbour opens at six.'], ['It closes at nine.']])
const goodDocx = zip(docxEntries(paragraph('The harbour opens at six.')))
const german = Buffer.from('# Grüße über Öl, Äpfel und Übung\n')
const entities =
  '<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]>'

/** Documents that nobody can or should read, made anew each time, and why. */
export function damagedDocuments(): DamagedDocument[] {
  return [
    { name: 'empty.pdf', content: Buffer.from('%PDF-'), reason: /damaged or cut off/ },
    { name: 'text-called.pdf', content: Buffer.from('just some text'), reason: /does not begin like a PDF/ },
    {
      name: 'noise.pdf',
      content: Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(5_000)]),
      reason: /damaged or cut off/,
    },
    { name: 'cut.pdf', content: goodPdf.subarray(0, 150), reason: /damaged or cut off/ },
    { name: 'no-pages.pdf', content: pdf([]), reason: /damaged|no text|no pages/ },
    { name: 'pictures.pdf', content: pdf([[], []]), reason: /no text; its pages may be pictures/ },
    {
      name: 'password.pdf',
      content: pdf([['secret']], {
        trailer: `/Encrypt 6 0 R /ID [<${'00'.repeat(16)}> <${'00'.repeat(16)}>]`,
        more: [`<< /Filter /Standard /V 1 /R 2 /P -44 /O <${'11'.repeat(32)}> /U <${'22'.repeat(32)}> >>`],
      }),
      reason: /protected by a password/,
    },
    {
      name: 'bomb.pdf',
      content: pdf([['x']], { stream: nested(megabytes(600, 0x20)) }),
      reason: /MB of memory|longer than|no text/,
    },
    { name: 'cut.docx', content: goodDocx.subarray(0, goodDocx.length - 40), reason: /archive is damaged or cut off/ },
    {
      name: 'noise.docx',
      content: Buffer.concat([Buffer.from('PK\x03\x04'), noise(5_000)]),
      reason: /archive is damaged/,
    },
    { name: 'text-called.docx', content: Buffer.from('just some text'), reason: /does not begin like a DOCX/ },
    {
      name: 'protected.docx',
      content: Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), noise(5_000)]),
      reason: /it is an old Office document or a protected one, no DOCX file/,
    },
    {
      name: 'deep.docx',
      content: zip([
        ...docxEntries(`${'<w:a>'.repeat(20_000)}${'</w:a>'.repeat(20_000)}`),
        { name: 'word/media/a.bin', content: noise(50_000) },
      ]),
      reason: /its elements are nested too deep/,
    },
    { name: 'broken-inside.docx', content: overwritten(goodDocx), reason: /archive is damaged|declares wrong sizes/ },
    { name: 'empty.docx', content: zip(docxEntries('')), reason: /no text/ },
    { name: 'bad-xml.docx', content: zip(docxEntries('<w:p><w:r><w:t>open')), reason: /damaged/ },
    {
      name: 'bomb.docx',
      content: zip([...docxEntries(paragraph('x')), { name: 'word/media/a.bin', content: megabytes(210) }]),
      reason: /unpacked it would be 210 MB, \d+ times its size/,
    },
    {
      name: 'ratio.docx',
      content: zip([...docxEntries(paragraph('x')), { name: 'word/media/a.bin', content: megabytes(20) }]),
      reason: /unpacked it would be 20 MB/,
    },
    {
      name: 'lying-bomb.docx',
      content: zip([
        ...docxEntries(paragraph('x')),
        { name: 'word/media/a.bin', content: megabytes(210), claimedSize: 10 },
      ]),
      reason: /declares wrong sizes/,
    },
    {
      name: 'entities.docx',
      content: zip(docxEntries(paragraph('&c;'), entities)),
      reason: /declares a document type or entities/,
    },
    {
      name: 'binary.xlsx',
      content: zip([{ name: 'xl/workbook.bin', content: 'x' }]),
      reason: /a binary Excel workbook \(.xlsb\), which has no reader/,
    },
    { name: 'text-called.xlsx', content: Buffer.from('just some text'), reason: /does not begin like an XLSX/ },
    { name: 'empty.xlsx', content: workbook(''), reason: /its sheets have no text/ },
    { name: 'cut-inside.xlsx', content: workbook('<row><c t="str"><v>open'), reason: /XML is damaged or cut off/ },
    { name: 'deep.xlsx', content: workbook('<a>'.repeat(600)), reason: /nested more than 500 deep/ },
    { name: 'entities.xlsx', content: workbook('', entities), reason: /declares a document type or entities/ },
    {
      name: 'long.xlsx',
      content: workbook('<row><c t="s"><v>0</v></c></row>'.repeat(1_000), '', 'x'.repeat(60_000)),
      reason: /more than 50 million characters of text/,
    },
    {
      name: 'empty.pptx',
      content: zip([{ name: 'ppt/presentation.xml', content: '<p:presentation/>' }]),
      reason: /its slides have no text/,
    },
    {
      name: 'repeated.pptx',
      content: zip([
        { name: 'ppt/presentation.xml', content: `<presentation>${'<sldId r:id="a"/>'.repeat(10_001)}</presentation>` },
        { name: 'ppt/_rels/presentation.xml.rels', content: '<R><Relationship Id="a" Target="a.xml"/></R>' },
      ]),
      reason: /more than 10000 slides/,
    },
    { name: 'no-headers.eml', content: Buffer.from('Hello,\n\nworld: yes'), reason: /the headers of a message/ },
    { name: 'empty.odt', content: openDocument('<text/>'), reason: /no readable text/ },
    { name: 'sheet.odt', content: openDocument('<spreadsheet/>'), reason: /an OpenDocument spreadsheet, which has no/ },
    { name: 'deep.odt', content: openDocument(`<text>${'<p>'.repeat(600)}`), reason: /nested more than 500 deep/ },
    { name: 'entities.odt', content: openDocument('<text/>', entities), reason: /a document type or entities/ },
    { name: 'no-package.epub', content: book(''), reason: /does not say what its chapters are/ },
    { name: 'empty.epub', content: book('<p/>'), reason: /its chapters have no text/ },
    {
      name: 'protected.epub',
      content: book('<p>x</p>', {
        name: 'META-INF/encryption.xml',
        content: '<e><CipherReference URI="a.xhtml"/></e>',
      }),
      reason: /protected against copying/,
    },
    {
      name: 'repeated.epub',
      content: book('<p>x</p>', { name: 'x', content: '' }, '<itemref idref="a"/>'.repeat(5_001)),
      reason: /more than 5000 chapters/,
    },
    {
      name: 'archive.zip',
      content: zip([{ name: 'a.txt', content: 'a' }]),
      reason: /a ZIP archive, which has no reader/,
    },
    {
      name: 'empty.html',
      content: Buffer.from('<html><body><script>1</script></body></html>'),
      reason: /no readable text/,
    },
    { name: 'deep.html', content: Buffer.from('<div>'.repeat(200_000)), reason: /nested more than 500 deep/ },
    {
      name: 'deep-and-closed.html',
      content: Buffer.from(`${'<b>'.repeat(900)}x${'</b>'.repeat(900)}`),
      reason: /nested more than 500 deep/,
    },
    {
      name: 'wrong-charset.html',
      content: Buffer.from('<meta charset="utf-8"><p>Gr\xfc\xdfe</p>', 'latin1'),
      reason: /declared to be utf-8, but it can't be decoded/,
    },
    {
      name: 'odd-utf-16.txt',
      content: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Hello', 'utf16le'), Buffer.from([0x41])]),
      reason: /byte order mark says utf-16le, but it can't be decoded/,
    },
    {
      name: 'half-surrogate-utf-16.txt',
      content: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Hello', 'utf16le'), Buffer.from([0x3d, 0xd8])]),
      reason: /byte order mark says utf-16le, but it can't be decoded/,
    },
    {
      name: 'utf-32.txt',
      content: Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0, 0x42, 0, 0, 0]),
      reason: /says utf-32le/,
    },
    {
      name: 'broken-utf-8.md',
      content: Buffer.concat([german, Buffer.from([0xff]), Buffer.from('mehr')]),
      reason: new RegExp(`bytes that are not valid UTF-8, the first at byte ${german.length}`),
    },
    { name: 'nul.txt', content: Buffer.from('text\0with\0nul and more of it\0'), reason: /NUL characters/ },
    { name: 'controls.txt', content: Buffer.from('\x01\x02\x03\x04ab'.repeat(50)), reason: /control characters/ },
    {
      name: 'picture.md',
      content: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      reason: /a PNG image/,
    },
    { name: 'old.doc', content: Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1]), reason: /an old Office document/ },
    { name: 'empty.rtf', content: Buffer.from('{\\rtf1 {\\info x}}'), reason: /it has no text/ },
    { name: 'deep.rtf', content: Buffer.from(`{\\rtf1 ${'{'.repeat(600)}`), reason: /nested more than 500 deep/ },
    { name: 'packed.md', content: Buffer.from([0x1f, 0x8b, 8, 0]), reason: /a gzip archive/ },
  ]
}

/** Bytes that look like chance and are the same each time. */
function noise(length: number): Buffer {
  let state = 9
  return Buffer.from(
    Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return state >>> 16
    }),
  )
}

/** Packed twice, a few hundred bytes are a gigabyte. */
function nested(content: Buffer): { dictionary: string; bytes: Buffer } {
  const bytes = deflateSync(deflateSync(content, { level: 9 }), { level: 9 })
  return { dictionary: `/Length ${bytes.length} /Filter [/FlateDecode /FlateDecode]`, bytes }
}

function overwritten(archive: Buffer): Buffer {
  const copy = Buffer.from(archive)
  const place = copy.indexOf('word/document.xml') + 'word/document.xml'.length
  copy.fill(0xff, place + 10, place + 60)
  return copy
}

/** An Excel workbook with one sheet of these rows, and one shared string. */
function workbook(rows: string, prologue = '', shared = ''): Buffer {
  const relation = (id: string, kind: string) => `<Relationship Id="${id}" Type="x/${kind}" Target="${kind}.xml"/>`
  return zip([
    { name: 'xl/workbook.xml', content: '<workbook><sheets><sheet name="A" r:id="r1"/></sheets></workbook>' },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `<R>${relation('r1', 'worksheet')}${relation('r2', 'sharedStrings')}</R>`,
    },
    { name: 'xl/sharedStrings.xml', content: `<sst><si><t>${shared}</t></si></sst>` },
    { name: 'xl/worksheet.xml', content: `${prologue}<worksheet>${rows}</worksheet>` },
  ])
}

/** A book with one chapter; with no package when that is empty. */
function book(chapter: string, more: ZipEntry = { name: 'x', content: '' }, spine = '<itemref idref="a"/>'): Buffer {
  const item = '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
  return zip([
    { name: 'META-INF/container.xml', content: '<c><rootfile full-path="book.opf"/></c>' },
    {
      name: chapter === '' ? 'other.opf' : 'book.opf',
      content: `<!DOCTYPE p [<!ENTITY b "bb">]><package><manifest>${item}</manifest><spine>${spine}</spine></package>`,
    },
    { name: 'a.xhtml', content: `<html xmlns="http://www.w3.org/1999/xhtml"><title/><body>${chapter}</body></html>` },
    more,
  ])
}

function openDocument(body: string, prologue = ''): Buffer {
  return zip([{ name: 'content.xml', content: `${prologue}<document-content><body>${body}</body></document-content>` }])
}
