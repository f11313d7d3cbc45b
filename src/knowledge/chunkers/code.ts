import type { Chunker, Heading, OpenSections } from '../../core/knowledge/drivers.ts'
import { atLine, atWord, type CutFinder, cutPieces } from './cut.ts'
import { lineNumbering } from './lines.ts'
import { headingPaths } from './outline-path.ts'

interface CodeLine {
  start: number
  indent: number
  /** The first line of a block (function, class, key): it follows a blank line, a block's end or deeper lines. */
  opens: boolean
  /** The line that this one is indented under. */
  parent: CodeLine | undefined
  title: string
}

/** As many whole functions or blocks as fit; the heading path is the lines that the chunk is indented under. */
export const codeChunker: Chunker = {
  name: 'code',
  description: 'Functions and blocks of source code or data, with the lines that enclose them.',
  *chunk(text, options) {
    const number = lineNumbering(text)
    const lines = codeLines(text)
    const rules = { finders: [outermostBlock(lines), atLine, atWord], byLines: () => true }
    let line = 0
    for (const [from, to, titles] of sectionsOf(text, options.outline, options.open)) {
      let cut = from
      for (const [start, end] of cutPieces(text, from, to, options, rules)) {
        while (line + 1 < lines.length && (lines[line + 1]?.start ?? 0) <= cut) line++
        yield number(start, end, [...titles, ...pathOf(lines[line])])
        cut = end
      }
    }
  },
}

/** One for each heading of the outline, if there is one; no chunk lies in two. */
function* sectionsOf(
  text: string,
  outline: readonly Heading[] = [],
  open?: OpenSections,
): Generator<[from: number, to: number, titles: string[]]> {
  const pathAt = headingPaths(outline, open)
  const starts = [...new Set([0, ...outline.map(({ start }) => start)])]
  for (const [at, from] of starts.entries()) {
    const to = starts[at + 1] ?? text.length
    if (to > from) yield [from, to, pathAt(from)]
  }
}

const maxLevels = 6
const maxTitle = 100
const ending = /^(?:[}\])]+[,;)]*|end)$/
const continuing = /^(?:[}\])]|end\b|else\b|elif\b|except\b|finally\b|catch\b)/

function codeLines(text: string): CodeLine[] {
  const lines: CodeLine[] = []
  const above: CodeLine[] = []
  let afterBlank = false
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const content = text.slice(start, Math.min(end, start + maxIndent + maxTitle)).trimStart()
    if (content.trimEnd() === '') afterBlank = true
    else {
      const indent = indentOf(text, start)
      const previous = lines.at(-1)
      let before: CodeLine | undefined
      while ((above.at(-1)?.indent ?? -1) >= indent) before = above.pop()
      const afterEnd = previous !== undefined && (previous.indent > indent || ending.test(previous.title))
      const opens = (afterBlank || afterEnd) && !continuing.test(content)
      // The end of a signature of several lines uses the title of its beginning.
      const title = content.startsWith(')') && before ? before.title : content.slice(0, maxTitle).trimEnd()
      const line = { start, indent, opens, parent: above.at(-1), title }
      lines.push(line)
      above.push(line)
      afterBlank = false
    }
    start = end + 1
  }
  return lines
}

const maxIndent = 200

function indentOf(text: string, start: number): number {
  let indent = 0
  for (let index = start; index < start + maxIndent; index++) {
    const code = text.charCodeAt(index)
    if (code === 9) indent += 4
    else if (code === 32) indent++
    else break
  }
  return indent
}

/** Of the window: with less before it, a block is better cut than left whole behind a few words. */
const leastPart = 0.2

/** Finds the start of the last outermost block in the window. */
function outermostBlock(lines: readonly CodeLine[]): CutFinder {
  return (_text, after, limit) => {
    let best: CodeLine | undefined
    for (let index = lastUpTo(lines, limit); index >= 0; index--) {
      const line = lines[index]
      if (!line || line.start <= after + (limit - after) * leastPart) break
      if (line.opens && line.indent < (best?.indent ?? Number.POSITIVE_INFINITY)) best = line
    }
    return best?.start
  }
}

function lastUpTo(lines: readonly CodeLine[], limit: number): number {
  let low = 0
  let high = lines.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((lines[middle]?.start ?? 0) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}

function pathOf(line: CodeLine | undefined): string[] {
  const path: string[] = []
  for (let above = line?.parent; above && path.length < maxLevels; above = above.parent)
    path.unshift(above.title.replace(/[\s{[(:]+$/, ''))
  return path.filter((title) => title !== '')
}
