import { type Block, isLeadIn, isMark, tableOf } from './passage-blocks.ts'
import type { Span } from './sentence.ts'

/** A paragraph up to this length is quoted whole. */
const maxParagraph = 700
/** A lead-in with what it leads to, a table, a section under the heading that was asked for. */
const maxWhole = 1_200
const maxTable = 700
const maxSection = 900

/** A passage that says something by itself. */
export interface Unit extends Span {
  /** The head of the table whose rows it is, when it is too far above to be quoted too. */
  head?: string
}

/**
 * What is to be quoted for a passage: the whole paragraph, the lead-in with its list, the row with the head of its table.
 * `asked`: the heading above is what was asked for, so that its text is the answer. `columns`: the head of a table that begins
 * before the content.
 */
export function unitAround(
  content: string,
  blocks: readonly Block[],
  at: number,
  passage: Span,
  { asked, columns }: { asked: boolean; columns?: string | undefined },
): Unit {
  const block = blocks[at] as Block
  const span = (first: number, last: number): Span => {
    const start = (blocks[first] as Block).start
    return { start, text: content.slice(start, endOf(blocks[last] as Block)) }
  }
  const fits = (unit: Span, most: number) => (unit.text.length <= most ? unit : undefined)
  const section = asked ? sectionOf(blocks, at) : undefined
  const wholeSection = section && fits(span(...section), maxSection)
  if (wholeSection !== undefined) return wholeSection
  if (block.kind === 'row') return tableUnit(blocks, at, span, columns)
  const [first, last] = groupOf(blocks, at)
  const before = previous(blocks, first)
  if (before !== undefined && isLeadIn(blocks[before]) && (block.kind !== 'paragraph' || block.indented)) {
    const led = fits(span(before, last), maxWhole)
    if (led !== undefined) return led
  }
  if (isLeadIn(block)) {
    for (let end = ledBy(blocks, at); end > at; end--) {
      const led = fits(span(at, end), maxWhole)
      if (led !== undefined) return led
    }
  }
  if (section !== undefined) {
    // The beginning of a section answers what its heading asks.
    let end = section[0]
    while (end < section[1] && span(section[0], end + 1).text.length <= maxParagraph) end++
    const start = fits(span(section[0], end), maxWhole)
    if (start !== undefined && at <= end) return start
  }
  if (block.kind === 'item')
    return fits(span(at, underItem(blocks, at)), maxWhole) ?? fits(block, maxParagraph) ?? passage
  return fits(block, block.kind === 'code' ? maxWhole : maxParagraph) ?? passage
}

function endOf({ start, text }: Span): number {
  return start + text.length
}

/** From the head of the table if it is short, else the row alone. `columns`: its head, if it is not among the blocks. */
function tableUnit(
  blocks: readonly Block[],
  at: number,
  span: (first: number, last: number) => Span,
  columns: string | undefined,
): Unit {
  const [first, last] = tableOf(blocks, at)
  const lead = previous(blocks, first)
  const start = lead !== undefined && isLeadIn(blocks[lead]) ? lead : first
  const tables = [span(start, last), span(first, last), span(first, at)]
  const hasHead = blocks[first + 1]?.kind === 'rule'
  const whole = tables.find(({ text }) => text.length <= maxTable)
  if (whole !== undefined) return hasHead ? whole : withHead(whole, columns)
  return withHead(span(at, at), hasHead ? span(first, first + 1).text : columns)
}

function withHead(unit: Unit, head: string | undefined): Unit {
  return head === undefined ? unit : { ...unit, head }
}

/** The list that an item is of, with what stands under its items; another block is a group of its own. */
function groupOf(blocks: readonly Block[], at: number): [first: number, last: number] {
  const isOfList = (block: Block | undefined) =>
    block?.kind === 'item' || (block?.indented === true && !isHeading(block))
  if (!isOfList(blocks[at])) return [at, at]
  let first = at
  while (isOfList(blocks[first - 1])) first--
  let last = at
  while (isOfList(blocks[last + 1])) last++
  return [first, last]
}

/** The last block of what a lead-in leads to. */
function ledBy(blocks: readonly Block[], at: number): number {
  let next = at + 1
  while (isMark(blocks[next])) next++
  const led = blocks[next]
  if (led === undefined || isHeading(led)) return at
  return led.kind === 'row' || led.kind === 'rule' ? tableOf(blocks, next)[1] : groupOf(blocks, next)[1]
}

function underItem(blocks: readonly Block[], at: number): number {
  let last = at
  while (blocks[last + 1]?.indented === true && blocks[last + 1]?.kind !== 'item' && !isHeading(blocks[last + 1]))
    last++
  return last
}

function previous(blocks: readonly Block[], at: number): number | undefined {
  for (let before = at - 1; before >= 0; before--) {
    if (isHeading(blocks[before])) return undefined
    if (!isMark(blocks[before])) return before
  }
  return undefined
}

/** The blocks between the heading above and the next one. */
function sectionOf(blocks: readonly Block[], at: number): [first: number, last: number] {
  let first = at
  while (first > 0 && !isHeading(blocks[first - 1])) first--
  let last = at
  while (last + 1 < blocks.length && !isHeading(blocks[last + 1])) last++
  // Of a section of links alone, the links are what it says.
  const isOutside = (block: Block | undefined) => isMark(block) && block?.kind !== blocks[at]?.kind
  while (last > at && isOutside(blocks[last])) last--
  while (first < at && isOutside(blocks[first])) first++
  return [first, last]
}

function isHeading(block: Block | undefined): boolean {
  return block?.kind === 'heading'
}
