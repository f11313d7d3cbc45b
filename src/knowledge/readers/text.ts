import { asciidocOutline, orgOutline, restructuredOutline } from './outline.ts'
import type { TextReader } from './reader.ts'

/** All text without a reader of its own. */
export const textReader: TextReader = {
  name: 'text',
  mediaTypes: ['text/plain'],
  extensions: ['.txt', '.text', '.log'],
  read: (text) => ({ text, start: 0, metadata: {}, chunker: 'paragraph' }),
}

/** Text with headings of another syntax than Markdown's; it stays unchanged. */
function outlined(name: string, mediaTypes: string[], extensions: string[], outlineOf: typeof orgOutline): TextReader {
  return {
    name,
    mediaTypes,
    extensions,
    read(text) {
      const outline = outlineOf(text)
      const title = outline[0]?.title
      return { text, start: 0, metadata: title === undefined ? {} : { title }, chunker: 'markdown', outline }
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
