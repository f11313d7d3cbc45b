import type { Heading, OpenSections } from '../../core/knowledge/drivers.ts'
import { headingText, plainTitle } from './markdown-title.ts'

export interface MarkdownBlock {
  start: number
  end: number
  /** Better not cut: fenced code, a table. */
  whole: boolean
  heading: boolean
}

export interface MarkdownSection {
  start: number
  end: number
  headingPath: string[]
  blocks: MarkdownBlock[]
}

interface Line {
  start: number
  end: number
  text: string
}

const atxHeading = /^ {0,3}(#{1,6})(?:[ \t]+(\S.*)?)?$/
const fence = /^ {0,3}(`{3,}|~{3,})/
const setextRule = /^ {0,3}(=+|-+)[ \t]*$/

function* linesOf(text: string): Generator<Line> {
  let start = 0
  while (start < text.length) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline + 1
    yield { start, end, text: text.slice(start, newline === -1 ? end : newline).replace(/\r$/, '') }
    start = end
  }
}

const adornment = /^([!-/:-@[-`{-~])\1+$/

/**
 * Splits the text into one section per heading, of Markdown or the outline. Code and tables are whole blocks. `open`: what
 * is open above the text; it is changed to what is open at its end.
 */
export function markdownSections(
  text: string,
  outline?: readonly Heading[],
  open: OpenSections = { path: [] },
): MarkdownSection[] {
  const { path } = open
  const titles = () => path.map((heading) => heading.title)
  const sections: MarkdownSection[] = [{ start: 0, end: text.length, headingPath: titles(), blocks: [] }]
  let nextHeading = 0
  let closing = open.fence === undefined ? undefined : new RegExp(open.fence)
  let kind: 'heading' | 'text' | 'code' | 'table' | undefined
  let previous: Line | undefined

  const section = () => sections.at(-1) as MarkdownSection
  const addLine = (line: Line, fresh: boolean, { whole = false, heading = false } = {}) => {
    const block = section().blocks.at(-1)
    if (fresh || !block) section().blocks.push({ start: line.start, end: line.end, whole, heading })
    else {
      block.end = line.end
      block.whole ||= whole
    }
  }
  const openSection = (start: number, level: number, title: string) => {
    while (path.length > 0 && (path.at(-1)?.level ?? 0) >= level) path.pop()
    path.push({ level, title })
    section().end = start
    if (section().start === start) sections.pop()
    sections.push({ start, end: text.length, headingPath: titles(), blocks: [] })
    kind = 'heading'
  }
  const isTitle = (line: Line) =>
    outline !== undefined && (adornment.test(line.text) || line.text.trim() === path.at(-1)?.title)

  for (const line of linesOf(text)) {
    const given = outline?.[nextHeading]
    const opening = closing === undefined ? fence.exec(line.text)?.[1] : undefined
    const heading = closing === undefined && outline === undefined ? atxHeading.exec(line.text) : null
    if (given?.start === line.start) {
      nextHeading++
      closing = undefined
      openSection(line.start, given.level, given.title)
      addLine(line, true, { heading: true })
    } else if (closing !== undefined) {
      addLine(line, false, { whole: true })
      if (closing.test(line.text)) {
        closing = undefined
        kind = undefined
      }
    } else if (opening !== undefined) {
      closing = new RegExp(`^ {0,3}${opening.charAt(0)}{${opening.length},}[ \\t]*$`)
      addLine(line, true, { whole: true })
      kind = 'code'
    } else if (heading) {
      openSection(line.start, heading[1]?.length ?? 1, plainTitle(headingText(heading[2] ?? '')))
      addLine(line, true, { heading: true })
    } else if (kind === 'heading' && isTitle(line)) {
      addLine(line, false)
    } else if (kind === 'text' && previous && isSetext(line, previous) && outline === undefined) {
      const title: Line = previous
      trimLastBlock(section(), title.start)
      openSection(title.start, line.text.includes('=') ? 1 : 2, plainTitle(title.text))
      addLine(title, true, { heading: true })
      addLine(line, false)
    } else if (kind === 'text' && previous?.text.includes('|') && isTableRule(line.text)) {
      trimLastBlock(section(), previous.start)
      addLine(previous, true, { whole: true })
      addLine(line, false, { whole: true })
      kind = 'table'
    } else if (line.text.trim() === '') {
      addLine(line, false)
      kind = undefined
    } else {
      addLine(line, kind === undefined || kind === 'heading')
      kind = kind === 'table' ? 'table' : 'text'
    }
    previous = line
  }
  open.fence = closing?.source
  return sections.filter((each) => each.end > each.start)
}

/** The line between a table's head and its rows. */
export function isTableRule(line: string): boolean {
  if (!/^ {0,3}[|:-]/.test(line)) return false
  const cells = line.trim().split('|')
  if (cells[0] === '') cells.shift()
  if (cells.at(-1)?.trim() === '') cells.pop()
  return cells.length > 1 && cells.every((cell) => /^:?-+:?$/.test(cell.trim()))
}

function isSetext(line: Line, title: Line): boolean {
  return setextRule.test(line.text) && !title.text.includes('|')
}

function trimLastBlock(section: MarkdownSection, start: number): void {
  const block = section.blocks.at(-1)
  if (!block) return
  if (block.start >= start) section.blocks.pop()
  else block.end = start
}
