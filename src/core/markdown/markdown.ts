import { type Inline, readInline } from './inline.ts'
import {
  endsFence,
  fenceOf,
  headingOf,
  indentOf,
  interrupts,
  isBlank,
  isRule,
  markOf,
  openParagraph,
  quoteOf,
  withoutIndent,
} from './lines.ts'
import { startsTable, type Table, tableAt } from './table.ts'

export type { Inline, Table }

export type Block =
  | { type: 'heading'; level: number; content: Inline[] }
  | { type: 'paragraph'; content: Inline[] }
  | { type: 'code'; text: string; lang: string }
  | { type: 'quote'; blocks: Block[] }
  | List
  | Table
  | { type: 'rule' }
  /** What is too deep, as it is written. */
  | { type: 'source'; text: string }

export interface List {
  type: 'list'
  /** Its first number; undefined for one without numbers. */
  start: number | undefined
  /** Empty lines are between its items, or in them. */
  loose: boolean
  items: Item[]
}

export interface Item {
  /** Whether a task is done; undefined for what is no task. */
  done: boolean | undefined
  blocks: Block[]
}

/** A block, and the line after it. */
interface Found {
  block: Block
  end: number
}

/** Each list and quote copies its lines, and what draws them calls itself. */
const deepest = 6
const underline = /^ {0,3}(?:=+|-+)[ \t]*$/

/**
 * Markdown as models write it: CommonMark with tables, tasks, struck text and bare addresses. HTML is text, and so is the definition
 * of a reference: a text is read in parts while it grows, and its links may be in another. The time grows with the length alone.
 */
export function readMarkdown(text: string): Block[] {
  return read(text.replace(/\r\n?/g, '\n').replace(/\n$/, '').split('\n'), 0).blocks
}

/** The blocks, and whether empty lines are between them. */
function read(lines: readonly string[], depth: number): { blocks: Block[]; apart: boolean } {
  if (depth > deepest) return { blocks: [{ type: 'source', text: lines.join('\n') }], apart: false }
  const blocks: Block[] = []
  let apart = false
  let at = 0
  while (at < lines.length) {
    const line = lines[at] ?? ''
    if (isBlank(line)) {
      at++
      continue
    }
    apart ||= blocks.length > 0 && isBlank(lines[at - 1])
    const found =
      indentedAt(lines, at) ??
      codeAt(lines, at) ??
      lineOf(line, at) ??
      quoteAt(lines, at, depth) ??
      listAt(lines, at, depth) ??
      tableAt(lines, at) ??
      paragraphAt(lines, at)
    blocks.push(found.block)
    at = found.end
  }
  return { blocks, apart }
}

function indentedAt(lines: readonly string[], at: number): Found | undefined {
  let end = at
  for (let next = at; next < lines.length; next++) {
    const line = lines[next] ?? ''
    if (isBlank(line)) continue
    if (indentOf(line) < 4) break
    end = next + 1
  }
  if (end === at) return undefined
  const text = lines.slice(at, end).map((line) => withoutIndent(line, 4))
  return { block: { type: 'code', text: text.join('\n'), lang: '' }, end }
}

function codeAt(lines: readonly string[], at: number): Found | undefined {
  const fence = fenceOf(lines[at] ?? '')
  if (fence === undefined) return undefined
  let end = at + 1
  const text: string[] = []
  for (; end < lines.length && !endsFence(lines[end] ?? '', fence); end++) {
    text.push(withoutIndent(lines[end] ?? '', fence.column))
  }
  return { block: { type: 'code', text: text.join('\n'), lang: fence.lang }, end: end + 1 }
}

/** A block of one line. */
function lineOf(line: string, at: number): Found | undefined {
  if (isRule(line)) return { block: { type: 'rule' }, end: at + 1 }
  const [level, text = ''] = headingOf(line) ?? []
  if (level === undefined) return undefined
  return { block: { type: 'heading', level, content: readInline(text) }, end: at + 1 }
}

function quoteAt(lines: readonly string[], at: number, depth: number): Found | undefined {
  const inner: string[] = []
  const opensParagraph = openParagraph()
  let isOpen = false
  let end = at
  for (; end < lines.length; end++) {
    const line = lines[end] ?? ''
    const text = quoteOf(line) ?? (isOpen && continues(line) ? line.trimStart() : undefined)
    if (text === undefined) break
    inner.push(text)
    isOpen = opensParagraph(text)
  }
  return end === at ? undefined : { block: { type: 'quote', blocks: read(inner, depth + 1).blocks }, end }
}

/** Whether it can go on with a paragraph that is open in a list or quote before it. */
function continues(line: string): boolean {
  return !isBlank(line) && !interrupts(line) && !underline.test(line) && markOf(line) === undefined
}

function listAt(lines: readonly string[], at: number, depth: number): Found | undefined {
  const first = markOf(lines[at] ?? '')
  if (first === undefined) return undefined
  const list: List = { type: 'list', start: first.start, loose: false, items: [] }
  let end = at
  let isApart = false
  for (;;) {
    const mark = markOf(lines[end] ?? '')
    if (mark?.kind !== first.kind) break
    const inner = innerOf(lines, end, mark.column)
    end += inner.length
    list.loose ||= isApart
    isApart = inner.length > 1 && isBlank(inner.at(-1))
    const [, box, text] = /^\[([ xX])\][ \t]+(?=\S)(.*)$/.exec(inner[0] ?? '') ?? []
    if (text !== undefined) inner[0] = text
    const { blocks, apart } = read(inner, depth + 1)
    list.loose ||= apart
    list.items.push({ done: box === undefined ? undefined : box !== ' ', blocks })
  }
  return { block: list, end }
}

/** The lines of an item, without its mark and their indent. */
function innerOf(lines: readonly string[], at: number, column: number): string[] {
  const first = (lines[at] ?? '').slice(column)
  const inner = [first]
  const opensParagraph = openParagraph()
  let isOpen = opensParagraph(first)
  for (let next = at + 1; next < lines.length; next++) {
    const line = lines[next] ?? ''
    const isInside = isBlank(line) || indentOf(line) >= column
    if (!isInside && !(isOpen && continues(line))) break
    const text = isInside ? withoutIndent(line, column) : line.trimStart()
    inner.push(text)
    isOpen = opensParagraph(text)
  }
  return inner
}

function paragraphAt(lines: readonly string[], at: number): Found {
  const text: string[] = []
  const content = () => readInline(text.join('\n').trimEnd())
  let end = at
  for (; end < lines.length; end++) {
    const line = lines[end] ?? ''
    if (end > at) {
      if (underline.test(line)) {
        const level = line.includes('=') ? 1 : 2
        return { block: { type: 'heading', level, content: content() }, end: end + 1 }
      }
      if (isBlank(line) || interrupts(line) || startsTable(lines, end)) break
    }
    text.push(line.replace(/^[ \t]+/, ''))
  }
  return { block: { type: 'paragraph', content: content() }, end }
}
