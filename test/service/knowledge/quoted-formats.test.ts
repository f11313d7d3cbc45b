import { afterAll, beforeAll, expect, it } from 'vitest'
import { findQuotes } from '../../../src/models/quote.ts'
import { around } from '../../../src/runnables/agent/around.ts'
import { docxEntries, zip } from '../../support/knowledge/files.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'
import { readerFixture } from '../../support/knowledge/readers.ts'

let place: KnowledgeFolder
beforeAll(async () => {
  place = await knowledgeFolder()
})
afterAll(() => place.remove())

const sections: [title: string, text: string][] = [
  ['Fill the tank', 'Lift the lid.'],
  ['Empty the tank', 'Turn the red screw.'],
  ['Clean the filter', 'Use warm water.'],
]
const written = (each: (title: string, text: string) => string) =>
  sections.map(([title, text]) => each(title, text)).join('')
const under = (mark: string) => (title: string, text: string) => `${title}\n${mark.repeat(title.length)}\n\n${text}\n\n`
const styled = (title: string, text: string) =>
  `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>${title}</w:t></w:r></w:p><w:p><w:r><w:t>${text}</w:t></w:r></w:p>`
const odt = (content: string) =>
  zip([
    { name: 'mimetype', content: 'application/vnd.oasis.opendocument.text' },
    {
      name: 'content.xml',
      content: `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text>${content}</office:text></office:body></office:document-content>`,
    },
  ])
const epub = (body: string) =>
  zip([
    { name: 'mimetype', content: 'application/epub+zip' },
    {
      name: 'META-INF/container.xml',
      content: '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>',
    },
    {
      name: 'book.opf',
      content:
        '<package><metadata/><manifest><item id="one" href="one.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="one"/></spine></package>',
    },
    { name: 'one.xhtml', content: `<html xmlns="http://www.w3.org/1999/xhtml"><body>${body}</body></html>` },
  ])
const cell = (source: string) => ({ cell_type: 'markdown', metadata: {}, source })

it.each<[kind: string, name: string, content: string | Uint8Array]>([
  ['Markdown', 'a.md', written((title, text) => `## ${title}\n\n${text}\n\n`)],
  ['Markdown, underlined', 'b.md', written((title, text) => `${title}\n---\n${text}\n\n`)],
  ['reStructuredText', 'a.rst', written(under('~'))],
  [
    'reStructuredText with overlines',
    'b.rst',
    written((title, text) => `${'='.repeat(20)}\n${under('=')(title.padEnd(20), text)}`),
  ],
  ['AsciiDoc', 'a.adoc', written((title, text) => `== ${title}\n\n${text}\n\n`)],
  ['Org', 'a.org', written((title, text) => `* ${title}\n\n${text}\n\n`)],
  ['HTML', 'a.html', written((title, text) => `<h2>${title}</h2><p>${text}</p>`)],
  ['Word', 'a.docx', zip(docxEntries(written(styled)))],
  [
    'OpenDocument',
    'a.odt',
    odt(written((title, text) => `<text:h text:outline-level="1">${title}</text:h><text:p>${text}</text:p>`)),
  ],
  ['EPUB', 'a.epub', epub(written((title, text) => `<h2>${title}</h2><p>${text}</p>`))],
  [
    'a notebook',
    'a.ipynb',
    JSON.stringify({
      nbformat: 4,
      nbformat_minor: 5,
      metadata: {},
      cells: sections.flatMap(([title, text]) => [cell(`## ${title}`), cell(text)]),
    }),
  ],
])('the heading that was asked for decides what is quoted of %s', async (kind, name, content) => {
  const knowledge = await place.open()
  const collection = kind.toLowerCase().replace(/[^a-z]+/g, '-')
  await knowledge.ingest({ content, name, collection })
  const query = 'How do I empty the tank?'
  const { results, trace } = await knowledge.search({ query, collection, trace: true })
  const { quotes } = await findQuotes(query, results, { fit: trace?.fit, widen: around(knowledge) })
  expect(quotes[0]?.text).toBe('Turn the red screw.')
})

it.each([
  ['odt/pandoc.odt', 'What colour is the light of the pier?', '| Pier | red |'],
  ['epub/pandoc.epub', 'What colour is the light of the pier?', '| Pier | red |'],
  ['epub/pandoc.epub', 'What does “Leaving” say?', '1.  Pay the fee.\n2.  Untie the boat.'],
  ['epub/ebooklib.epub', 'Welchen Kanal rufe ich bei der Ankunft?', 'Rufen Sie Kanal 12.'],
  ['odt/libreoffice.odt', 'At which hour is the gate open?', '| 6 | open |'],
])('quotes of a real book or text: %s, %s', async (file, query, expected) => {
  const knowledge = await place.open()
  const collection = file.replace('/', '-')
  await knowledge.ingest({ content: readerFixture(file), name: file, collection })
  const { results, trace } = await knowledge.search({ query, collection, trace: true })
  const { quotes } = await findQuotes(query, results, { fit: trace?.fit, widen: around(knowledge) })
  expect(quotes[0]?.text).toContain(expected)
  expect(results[0]?.content).toContain(quotes[0]?.text)
})

it('a list that is cut off its lead-in by the end of a chunk is quoted with it', async () => {
  const knowledge = await place.open()
  const filler = 'The boiler was built with care and is looked after by its owners all through the year. '.repeat(9)
  const text = `# Boiler\n\n${filler}\n\nOpen these three valves of the boiler in turn:\n\n- the green one\n- the blue one\n- the grey one\n\nThen wait.\n`
  const { chunk_count } = await knowledge.ingest({
    content: text,
    name: 'boiler.md',
    collection: 'cut',
    chunk_size: 870,
    chunk_overlap: 0,
  })
  expect(chunk_count).toBeGreaterThan(1)
  const query = 'Which valves of the boiler must be opened in turn?'
  const { results } = await knowledge.search({ query, collection: 'cut' })
  const whole = 'Open these three valves of the boiler in turn:\n\n- the green one\n- the blue one\n- the grey one'
  const quoted = async (widen?: ReturnType<typeof around>) => (await findQuotes(query, results, { widen })).quotes[0]
  expect((await quoted())?.text).not.toBe(whole)
  expect(await quoted(around(knowledge))).toMatchObject({ text: whole, line: 5 })
})
