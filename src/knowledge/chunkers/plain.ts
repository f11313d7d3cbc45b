import type { Chunker } from '../../core/knowledge-drivers.ts'
import type { CutRules } from './cut.ts'
import { atBlock, atLine, atParagraph, atSentence, atWord, cutPieces } from './cut.ts'
import { lineNumbering } from './lines.ts'

function plainChunker(name: Chunker['name'], description: string, rules: CutRules): Chunker {
  return {
    name,
    description,
    *chunk(text, options) {
      const number = lineNumbering(text)
      for (const [start, end] of cutPieces(text, 0, text.length, options, rules)) yield number(start, end)
    },
  }
}

export const characterChunker = plainChunker('character', 'Pieces of equal length, cut between characters.', {
  finders: [],
})

export const sentenceChunker = plainChunker('sentence', 'As many whole sentences as fit.', {
  finders: [atSentence, atWord],
})

export const paragraphChunker = plainChunker(
  'paragraph',
  'As many whole paragraphs as fit; a long one is cut between sentences.',
  { finders: [atParagraph, atSentence, atWord] },
)

export const codeChunker = plainChunker(
  'code',
  'Whole blocks of source code: cut before a line without indentation, else at blank lines, else between lines.',
  { finders: [atBlock, atParagraph, atLine, atWord] },
)
