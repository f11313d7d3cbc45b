import type { Chunker } from '../../core/knowledge/drivers.ts'
import type { CutRules } from './cut.ts'
import { atParagraph, atSentence, atWord, cutPieces } from './cut.ts'
import { lineNumbering } from './lines.ts'
import { headingPaths } from './outline-path.ts'

function plainChunker(name: Chunker['name'], description: string, rules: CutRules): Chunker {
  return {
    name,
    description,
    *chunk(text, options) {
      const number = lineNumbering(text)
      const pathAt = headingPaths(options.outline, options.open)
      for (const [start, end] of cutPieces(text, 0, text.length, options, rules))
        yield number(start, end, pathAt(start))
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
  'As many whole paragraphs as fit. A long paragraph is cut between sentences.',
  { finders: [atParagraph, atSentence, atWord] },
)
