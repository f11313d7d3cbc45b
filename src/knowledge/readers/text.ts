import type { Heading } from '../../core/knowledge/drivers.ts'
import { asciidocOutline, orgOutline, restructuredOutline } from './outline.ts'
import { afterBlankLine } from './part-ends.ts'
import type { TextReader } from './reader.ts'

/** All text without a reader of its own. */
export const textReader: TextReader = {
  name: 'text',
  mediaTypes: ['text/plain'],
  extensions: ['.txt', '.text', '.log'],
  read: (text) => ({ text, start: 0, metadata: {}, chunker: 'paragraph' }),
  partEnd: afterBlankLine,
}

type OutlineOf = (text: string, marks: string[]) => Heading[]

/** Text with headings of another syntax than Markdown's; it stays unchanged. */
function outlined(name: string, mediaTypes: string[], extensions: string[], outlineOf: OutlineOf): TextReader {
  return {
    name,
    mediaTypes,
    extensions,
    partEnd: afterBlankLine,
    read(text, _name, { marks: used } = {}) {
      const marks = Array.isArray(used) ? used.map(String) : []
      const outline = outlineOf(text, marks)
      const title = used === undefined ? outline[0]?.title : undefined
      const metadata = title === undefined ? {} : { title }
      return { text, start: 0, metadata, chunker: 'markdown', outline, reading: { marks } }
    },
  }
}

export const restructuredReader = outlined(
  'restructuredtext',
  ['text/x-rst', 'text/prs.fallenstein.rst'],
  ['.rst', '.rest'],
  restructuredOutline,
)
export const asciidocReader = outlined(
  'asciidoc',
  ['text/asciidoc', 'text/x-asciidoc'],
  ['.adoc', '.asciidoc', '.asc'],
  asciidocOutline,
)
export const orgReader = outlined('org', ['text/org', 'text/x-org'], ['.org'], orgOutline)
