import type { Chunker } from '../../core/knowledge/drivers.ts'
import type { CutFinder } from './cut.ts'
import { atLine, atSentence, atWord, cutPieces } from './cut.ts'
import { lineNumbering } from './lines.ts'
import { isTableRule, type MarkdownBlock, type MarkdownSection, markdownSections } from './markdown-blocks.ts'

/**
 * One chunk per section; a long section is cut between its blocks. Overlap stays inside a section, so that every chunk
 * fits its heading path. Headings without text join the next section.
 */
export const markdownChunker: Chunker = {
  name: 'markdown',
  description: 'Markdown sections with their headings. Code blocks and tables stay whole if they fit.',
  *chunk(text, options) {
    const number = lineNumbering(text)
    for (const section of joinBareHeadings(text, markdownSections(text, options.outline, options.open), options.size)) {
      const blockAt = blockFinder(section)
      const rules = {
        finders: [atBlockOf(text, section), atLine, atSentence, atWord],
        wholeUntil: wholeBlockFrom(section),
        byLines: (cut: number) => blockAt(cut - 1)?.whole === true,
      }
      for (const [start, end] of cutPieces(text, section.start, section.end, options, rules))
        yield number(start, end, [...section.headingPath, ...tableHead(text, blockAt(start), start)])
    }
  },
}

function joinBareHeadings(text: string, sections: MarkdownSection[], size: number): MarkdownSection[] {
  const joined: MarkdownSection[] = []
  let bare: MarkdownSection | undefined
  for (const section of sections) {
    const whole: MarkdownSection = bare
      ? { ...section, start: bare.start, blocks: [...bare.blocks, ...section.blocks] }
      : section
    bare = undefined
    const body = whole.blocks.some((block) => !isHeading(text, block))
    if (!body && whole.end - whole.start < size / 2) bare = whole
    else joined.push(whole)
  }
  return bare ? [...joined, bare] : joined
}

function isHeading(text: string, block: MarkdownBlock): boolean {
  return block.heading || text.slice(block.start, block.end).trim() === ''
}

/** A block's beginning, except one that would leave the section's headings alone in a chunk. */
function atBlockOf(text: string, section: MarkdownSection): CutFinder {
  const first = section.blocks.findIndex((block) => !isHeading(text, block))
  const places = section.blocks.slice(first + 1).map((block) => block.start)
  return (_text, after, limit) => {
    const place = places[lastIndexUpTo(places, limit)]
    return place !== undefined && place > after ? place : undefined
  }
}

function wholeBlockFrom(section: MarkdownSection): (at: number) => number | undefined {
  const starts = section.blocks.map((block) => block.start)
  return (at) => {
    const block = section.blocks[lastIndexUpTo(starts, at)]
    return block?.start === at && block.whole ? block.end : undefined
  }
}

function blockFinder({ blocks }: MarkdownSection): (at: number) => MarkdownBlock | undefined {
  const starts = blocks.map((block) => block.start)
  return (at) => blocks[lastIndexUpTo(starts, at)]
}

const longestHead = 200

/** The head of the table that a chunk goes on with: without it, its rows would be values without names. */
function tableHead(text: string, block: MarkdownBlock | undefined, start: number): string[] {
  if (!block?.whole || block.start === start) return []
  const [head = '', rule = ''] = text.slice(block.start, block.start + 5_000).split('\n', 2)
  if (!isTableRule(rule)) return []
  const cells = head.trim().replace(/^\||\|$/g, '')
  return [
    cells
      .split('|')
      .map((cell) => cell.trim())
      .join(' | ')
      .slice(0, longestHead),
  ]
}

function lastIndexUpTo(sorted: readonly number[], limit: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}
