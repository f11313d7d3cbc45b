import { afterAll, describe, expect, it } from 'vitest'
import { readers } from '../../../src/knowledge/readers/all.ts'
import { docxEntries, paragraph, pdf, zip } from '../../support/knowledge/files.ts'

afterAll(() => readers.close())

const read = (content: string | Uint8Array, name: string, mediaType?: string) =>
  readers.read({ content, name, mediaType })

describe('readers', () => {
  it('are found by media type, then by the name, and text is text', async () => {
    const reader = async (name: string | undefined, mediaType?: string) =>
      (await readers.read({ content: '<p>a</p>', name, mediaType })).reader
    expect(await reader('a.md', 'text/html; charset=utf-8')).toBe('html')
    expect(await reader('a.md', 'application/octet-stream')).toBe('markdown')
    expect(await reader('A.MD', 'text/plain')).toBe('markdown')
    expect(await reader('a.ts')).toBe('code')
    expect(await reader('a.ts', 'video/mp2t')).toBe('code')
    expect(await reader('data.json')).toBe('data')
    expect(await reader(undefined)).toBe('text')
    expect(await reader('LICENSE', 'text/x-unknown')).toBe('text')
    await expect(reader('a.bin', 'image/png')).rejects.toMatchObject({ code: 'unreadable_document' })
  })

  it('keep the lines of a Markdown file and begin after its front matter', async () => {
    const content = '---\r\ntitle: "A: b"\r\ntags: [x]\r\n---\r\n# Heading\n'
    const read = await readers.read({ content, name: 'a.md' })
    expect(read.text).toBe(content)
    expect(read.text.slice(read.start)).toBe('# Heading\n')
    expect(read.metadata).toMatchObject({ title: 'A: b', front_matter: { title: 'A: b', tags: ['x'] } })
  })

  it('keep front matter that is no YAML as text, and a rule is no front matter', async () => {
    expect((await readers.read({ content: '---\na: [b\n---\ntext', name: 'a.md' })).metadata.front_matter).toBe('a: [b')
    expect((await readers.read({ content: 'text\n\n---\n\nmore', name: 'a.md' })).start).toBe(0)
    const bomb = `---\na: &a [x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c]\n---\ntext`
    expect(typeof (await readers.read({ content: bomb, name: 'a.md' })).metadata.front_matter).toBe('string')
  })

  it('make Markdown of what a page is about', async () => {
    const html = `<html lang="de"><head><title> T &amp; t </title></head><body><nav>menu</nav><article><h1>One</h1>
      <p>Text with <code>code</code>.</p><pre><code>let a = 1
let b</code></pre><table><tr><th>k</th><th>v</th></tr><tr><td>a|b</td><td>2</td></tr></table>
      <img src="x" alt="a picture"><script>bad()</script></article></body></html>`
    const { text, metadata, chunker } = await readers.read({ content: html, name: 'a.html' })
    expect(metadata).toMatchObject({ title: 'T & t', language: 'de' })
    expect(chunker).toBe('markdown')
    expect(text).toContain('# One')
    expect(text).toContain('```\nlet a = 1\nlet b\n```')
    expect(text).toContain('| k | v |\n| --- | --- |\n| a\\|b | 2 |')
    expect(text).toContain('a picture')
    expect(text).not.toMatch(/menu|bad\(\)/)
  })

  it('keep alternative texts, summaries and captions apart from what is beside them', async () => {
    const html =
      '<main><p>See<img alt="the pier">now, <img alt="a boat"> too</p><details><summary>More</summary>Text</details></main>'
    expect((await read(html, 'a.html')).text).toBe('See the pier now, a boat too\n\nMore\n\nText\n')
    const table = '<table><caption>Fees</caption><tr><td><p>a</p><p>b</p><td>c<img alt="d">e</table>'
    expect((await read(table, 'a.html')).text).toBe('Fees\n\n| a b | c d e |\n| --- | --- |\n')
  })

  it('put a cell that spans rows into each of them, and keep columns below each other', async () => {
    const rows = [
      '<th>Day<th>Hour<th>Gate',
      '<td rowspan=2>Monday<td>6<td>open',
      '<td>20<td>closed',
      '<td>Sunday<td colspan=2>closed',
      '<td>x<td rowspan=99999999>y<td>z',
    ]
    const { text } = await read(`<table><tr>${rows.join('<tr>')}</table>`, 'a.html')
    expect(text.split('\n')).toEqual([
      '| Day | Hour | Gate |',
      '| --- | --- | --- |',
      '| Monday | 6 | open |',
      '| Monday | 20 | closed |',
      '| Sunday | closed |  |',
      '| x | y | z |',
      '',
    ])
  })

  it('refuse pages whose elements nest without end', async () => {
    const html = '<div>'.repeat(100_000)
    await expect(readers.read({ content: html, name: 'a.html' })).rejects.toMatchObject({
      code: 'unreadable_document',
      message: expect.stringContaining('nested'),
    })
  })

  it('leave out what goes round a page, but not what its content is made of', async () => {
    const shell = (main: string) =>
      `<body><header>Logo</header><div class="x sidebar">Links</div><aside>Ad</aside>${main}<footer>Imprint</footer></body>`
    expect((await read(shell('<form><p>Text</p><input value=v></form>'), 'a.html')).text).toBe('Text\n')
    const asides = shell('<main><header><h1>T</h1></header><aside>Note well.</aside><p hidden>no</p></main>')
    expect((await read(asides, 'a.html')).text).toBe('# T\n\nNote well.\n')
    expect((await read('<body class="sidebar"><div id="menu">Soup</div></body>', 'a.html')).text).toBe('Soup\n')
  })

  it('give the text of a PDF with its paragraphs and where its pages begin', async () => {
    const content = pdf([['The harbour opens', 'at six.', '', '', 'Boats wait.'], ['Page two.']], {
      trailer: '/Info 8 0 R',
      more: ['<< /Title (Harbour) >>'],
    })
    const found = await read(content, 'a.pdf')
    expect(found).toMatchObject({ reader: 'pdf', chunker: 'paragraph', metadata: { pages: 2, title: 'Harbour' } })
    expect(found.text).toBe('The harbour opens\nat six.\n\nBoats wait.\n\nPage two.\n\n')
    expect(found.pages?.map((start) => found.text.slice(start, start + 4))).toEqual(['The ', 'Page'])
    expect((await read(content, 'called-so.txt', 'text/plain')).reader).toBe('pdf')
    expect((await read(content.toString(), 'as-text.pdf')).text).toBe(found.text)
  })

  it('make Markdown of a Word document', async () => {
    const table = `<w:tbl><w:tr><w:tc>${paragraph('k')}</w:tc><w:tc>${paragraph('v')}</w:tc></w:tr></w:tbl>`
    const content = zip(docxEntries(paragraph('Guide', 'Heading1') + paragraph('Text &amp; more') + table))
    const found = await read(content, 'a.docx')
    expect(found).toMatchObject({ reader: 'docx', chunker: 'markdown', metadata: { title: 'Guide' } })
    expect(found.text).toContain('# Guide\n\nText & more\n\n| k | v |')
  })

  it('put the column to each value of a table, on the line where the file has it', async () => {
    const content = 'name,phone\r\n"Ann\nLee",123\r\n\r\nBob,"4,5"\r\nCid,\r\n'
    const { text, metadata } = await read(content, 'a.csv')
    expect(text.split('\n')).toEqual([
      'name; phone',
      'name: Ann',
      'Lee; phone: 123',
      '',
      'name: Bob; phone: 4,5',
      'name: Cid',
      '',
    ])
    expect(metadata).toMatchObject({ columns: ['name', 'phone'], rows: 3 })
    expect((await read('a\tb\n1\t2\n', 'a.tsv')).text).toBe('a; b\na: 1; b: 2\n')
    for (const plain of ['1,2\n3,4\n', 'a,b\n"open,2\n', 'a,b\n']) expect((await read(plain, 'a.csv')).text).toBe(plain)
  })

  it('give lines to JSON that has none, letter for letter', async () => {
    const dense = `{"a":[1,"x,{}]\\""],"n":12345678901234567890,"e":{},"long":"${'y'.repeat(6_000)}"}`
    const { text } = await read(dense, 'a.json')
    expect(text.split('\n').slice(0, 6)).toEqual([
      '{',
      '  "a":[',
      '    1,',
      '    "x,{}]\\""',
      '  ],',
      '  "n":12345678901234567890,',
    ])
    expect(text.replace(/\n */g, '')).toBe(dense)
    expect((await read('{"a":1}\n', 'a.json')).text).toBe('{"a":1}\n')
  })

  it('know the headings of reStructuredText, AsciiDoc and Org', async () => {
    const titles = async (content: string, name: string) =>
      (await read(content, name)).outline?.map(({ start, level, title }) => [
        content.slice(start, start + 2),
        level,
        title,
      ])
    const rst =
      '=====\nGuide\n=====\n\nText\n\nInstall\n-------\n\nDeep\n~~~~\n\nUse\n---\n\n====  ====\na     b\n====  ====\n'
    expect(await titles(rst, 'a.rst')).toEqual([
      ['==', 1, 'Guide'],
      ['In', 2, 'Install'],
      ['De', 3, 'Deep'],
      ['Us', 2, 'Use'],
    ])
    expect(await titles('= Guide\n\n== Install ==\n\n----\n== no\n----\n\n=== Deep\n', 'a.adoc')).toEqual([
      ['= ', 1, 'Guide'],
      ['==', 2, 'Install'],
      ['==', 3, 'Deep'],
    ])
    expect(await titles('* One\n** Two\n*bold*\n', 'a.org')).toEqual([
      ['* ', 1, 'One'],
      ['**', 2, 'Two'],
    ])
  })

  it('begin an MDX page after what it imports, and know the language of code', async () => {
    const mdx = "---\ntitle: T\n---\nimport { A } from './a'\nimport './b'\n\n# Heading\n"
    const found = await read(mdx, 'a.mdx')
    expect(found.text.slice(found.start)).toBe('# Heading\n')
    expect((await read('import x', 'a.py')).metadata.programming_language).toBe('python')
  })

  it.each([
    ['UTF-8 with a mark', Buffer.from('\ufeffGrüße'), 'utf-8'],
    ['UTF-16 with a mark', Buffer.from('\ufeffGrüße', 'utf16le'), 'utf-16le'],
    ['big-endian UTF-16 with a mark', Buffer.from('\ufeffGrüße', 'utf16le').swap16(), 'utf-16be'],
    ['UTF-16 without one', Buffer.from('Grüße', 'utf16le'), 'utf-16le'],
    ['big-endian UTF-16 without one', Buffer.from('Grüße', 'utf16le').swap16(), 'utf-16be'],
    ['Latin-1', Buffer.from('Grüße', 'latin1'), 'windows-1252'],
  ])('tell the encoding: %s', async (_name, content, encoding) => {
    expect(await read(content, 'a.txt')).toMatchObject({ text: 'Grüße', metadata: { encoding } })
  })

  it('tell older encodings by their text, and believe what is declared', async () => {
    const russian = Buffer.from([
      0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x2c, 0x20, 0xec, 0xe8, 0xf0, 0x21, 0x20, 0xdd, 0xf2, 0xee, 0x20, 0xf2, 0xe5,
      0xea, 0xf1, 0xf2,
    ])
    expect((await read(russian, 'a.txt')).text).toBe('Привет, мир! Это текст')
    const declared = Buffer.from([0x3c, 0x70, 0x3e, 0xcf, 0xf0])
    expect((await read(declared, 'a.html', 'text/html; charset=windows-1251')).text).toBe('Пр\n')
    const page = Buffer.concat([Buffer.from('<meta charset="windows-1251"><p>'), russian])
    expect((await read(page, 'a.html')).text).toBe('Привет, мир! Это текст\n')
  })

  it.each([
    ['windows-1251', 'Настройка сервера'],
    ['windows-1251', 'install linux server config — готово'],
    ['windows-1251', 'Це текст українською мовою: їжак, ґанок і єнот.'],
    ['koi8-u', 'Настройка сервера'],
    ['ibm866', 'Порт по умолчанию занят'],
    ['windows-1250', 'Łódź i Gdańsk'],
    ['iso-8859-8', 'שלום עולם'],
  ])('tell older encodings of short texts: %s', async (encoding, text) => {
    const found = await read(encoded(text, encoding), 'a.txt')
    expect([found.metadata.encoding, found.text]).toEqual([encoding, text])
  })

  it('refuse a text that several encodings fit, unless its encoding is named', async () => {
    const pangram = encoded('Съешь ещё этих мягких французских булок', 'windows-1251')
    await expect(read(pangram, 'a.txt')).rejects.toMatchObject({ message: expect.stringContaining('--encoding') })
    expect(await read(pangram, 'a.md', 'text/plain; charset=windows-1251')).toMatchObject({
      reader: 'markdown',
      text: 'Съешь ещё этих мягких французских булок',
    })
  })
})

/** In an encoding with a byte for each character. */
function encoded(text: string, encoding: string): Uint8Array {
  const decoder = new TextDecoder(encoding)
  const bytes = new Map(Array.from({ length: 256 }, (_, byte) => [decoder.decode(Uint8Array.of(byte)), byte]))
  return Uint8Array.from([...text].map((character) => bytes.get(character) ?? 63))
}
