import { type Span, trimSpan } from './sentence.ts'

/**
 * `mark`: what nobody reads, such as an anchor or a label. `link`: an entry of a table of contents or of a list of links.
 * `rule`: the line between the head of a table and its rows.
 */
export type BlockKind = 'heading' | 'paragraph' | 'item' | 'code' | 'row' | 'rule' | 'mark' | 'link'

export interface Block extends Span {
  kind: BlockKind
  /** Stands under the item before it. */
  indented: boolean
}

const fenceOfMarkdown = /^\s*(?:```|~~~)/
/** Where tildes underline titles. */
const fenceWithoutTildes = /^\s*```/
const item = /^\s*(?:[-*+•]|\d{1,3}[.)]|#\.)\s/
const atx = /^#{1,6}\s/
/** Also the lines of a grid table of reStructuredText: `+---+`, and `+===+` under its head. */
const row = /^\s*(?:\||\+[-=+]+\+\s*$)/
const rule = /^\s*(?:\|[\s:|-]+|\+[=+]+\s*)$/
const link = /^\s*(?:[-*+]|\d{1,3}[.)])\s+\[[^\]]*\]\([^)]*\)\s*$/
/** A paragraph that only says where else to look. */
const pointer =
  /^(?:[-*+]\s+)?(?:see(?:\s+also)?|refer\s+to):?\s+(?:the\s+)?`?\[[^\n]{1,200}\](?:\[[^\]]*\]|\([^)]*\))?`?\.?$/i
const mark = /^\s*(?:<a\s[^>]*>\s*<\/a>|<!--.*-->|\.\. _[^:]*:.*|\[[^\]]+\]:\s+\S+.*)\s*$/
const directive = /^\.\. [\w-]+::/
const codeDirective = /^\.\. (?:code|code-block|sourcecode|highlight|parsed-literal|literalinclude)::/

/** What begins and ends code in the format of a document. */
export function fenceOf(source: string): RegExp {
  return /\.(?:rst|rest|adoc|asciidoc|asc)$/i.test(source) ? fenceWithoutTildes : fenceOfMarkdown
}

/** How a title is marked in the format of a document, besides by underlines. */
function titleOf(source: string): RegExp {
  if (/\.(?:adoc|asciidoc|asc)$/i.test(source)) return /^={1,6}\s+\S/
  return /\.org$/i.test(source) ? /^\*+\s+\S/ : atx
}

/** Headings, paragraphs, items of lists, rows of tables and whole pieces of code of Markdown, reStructuredText, AsciiDoc and Org. */
export function blocksOf(content: string, source: string): Block[] {
  const title = titleOf(source)
  const fence = fenceOf(source)
  const found: Block[] = []
  const lines = [...content.matchAll(/[^\n]*(?:\n|$)/g)].map(({ index, 0: text }) => ({ start: index, text }))
  let open: { kind: BlockKind; start: number } | undefined
  const close = (end: number) => {
    if (open === undefined) return
    const span = trimSpan({ start: open.start, text: content.slice(open.start, end) })
    const indented = /^(?: {2,}|\t)/.test(content.slice(content.lastIndexOf('\n', span.start - 1) + 1, span.start + 1))
    if (span.text !== '') found.push({ ...span, kind: open.kind, indented })
    open = undefined
  }
  const only = (kind: BlockKind, start: number, end: number) => {
    close(start)
    open = { kind, start }
    close(end)
  }
  const cut = endOfCutCode(lines, fence)
  if (cut !== undefined) only('code', 0, endOf(lines, cut))
  for (let at = cut === undefined ? 0 : cut + 1; at < lines.length; at++) {
    const { start, text } = lines[at] as Span
    const end = start + text.length
    if (fence.test(text)) {
      let last = at + 1
      while (last < lines.length - 1 && !fence.test(lines[last]?.text ?? '')) last++
      only('code', start, endOf(lines, last))
      at = last
    } else if (/^\s*<!--/.test(text) && !text.includes('-->')) {
      let last = at + 1
      while (last < lines.length - 1 && !lines[last]?.text.includes('-->')) last++
      only('mark', start, endOf(lines, last))
      at = last
    } else if (isTitled(lines, at, open === undefined || isUnderline(text))) {
      const overlined = isUnderline(text)
      const last = at + (overlined ? 2 : 1)
      only('heading', start, endOf(lines, last))
      at = last
    } else if (/^\s*$/.test(text)) close(start)
    else if (title.test(text)) only('heading', start, end)
    else if (mark.test(text)) only('mark', start, end)
    else if (link.test(text)) only('link', start, end)
    else if (row.test(text)) only(rule.test(text) ? 'rule' : 'row', start, end)
    else if (directive.test(text)) {
      const last = lastIndented(lines, at)
      only(codeDirective.test(text) ? 'code' : 'paragraph', start, endOf(lines, last))
      at = last
    } else if (open === undefined && isCodeAfter(found.at(-1), text)) {
      const last = lastIndented(lines, at - 1)
      only('code', start, endOf(lines, last))
      at = Math.max(at, last)
    } else if (item.test(text)) {
      close(start)
      open = { kind: 'item', start }
    } else open ??= { kind: 'paragraph', start }
  }
  close(content.length)
  return found.map((block) =>
    block.kind === 'paragraph' && pointer.test(block.text) ? { ...block, kind: 'link' } : block,
  )
}

/** Where code ends in which a chunk begins: the first fence is then a bare one that closes it. */
function endOfCutCode(lines: readonly Span[], fence: RegExp): number | undefined {
  const fences = lines.flatMap(({ text }, at) => (fence.test(text) ? [at] : []))
  const isBare = (at: number | undefined) => /^\s*(?:`{3,}|~{3,})\s*$/.test(lines[at ?? -1]?.text ?? '')
  const [first] = fences
  const isOdd = fences.length % 2 === 1
  return isBare(first) && (isOdd || !isBare(fences.at(-1))) ? first : undefined
}

function endOf(lines: readonly Span[], at: number): number {
  const line = lines[Math.min(at, lines.length - 1)]
  return line === undefined ? 0 : line.start + line.text.length
}

/** The last line that is indented below one, empty lines between them included. */
function lastIndented(lines: readonly Span[], at: number): number {
  let last = at
  for (let next = at + 1; next < lines.length; next++) {
    const text = lines[next]?.text ?? ''
    if (/^\s+\S/.test(text)) last = next
    else if (text.trim() !== '') break
  }
  return last
}

function isCodeAfter(before: Block | undefined, line: string): boolean {
  if (!/^(?: {3,}|\t)/.test(line) || before === undefined) return false
  return before.kind === 'paragraph' && (before.text.endsWith('::') || (before.text.endsWith(':') && !item.test(line)))
}

/** Whether a title begins at a line: underlined, or between two equal lines (reStructuredText). */
function isTitled(lines: readonly Span[], at: number, free: boolean): boolean {
  const [first = '', second = '', third = ''] = lines.slice(at, at + 3).map(({ text }) => text)
  if (isUnderline(first)) return first.trim() === third.trim() && isTitle(second.trimStart())
  return free && isTitle(first) && isUnderline(second)
}

function isTitle(line: string): boolean {
  return /^ {0,3}[\p{L}\p{N}`*_"'([<:]/u.test(line) && !/^\s*(?:\d{1,3}[.)]|[*])\s/.test(line)
}

/** One punctuation mark repeated, which makes the line above a title. */
function isUnderline(line: string): boolean {
  return /^ {0,3}(?:={2,}|-{2,}|([!-/:-@[-`{-~])\1{2,})\s*$/.test(line)
}

/** What says nothing to whoever did not ask for it. */
export function isMark(block: Block | undefined): boolean {
  return block?.kind === 'mark' || block?.kind === 'link'
}

/** The first and the last block of the table that a row is of. A head, which a rule follows, begins another table. */
export function tableOf(blocks: readonly Block[], at: number): [first: number, last: number] {
  const isOfTable = (block: Block | undefined) => block?.kind === 'row' || block?.kind === 'rule'
  const isHead = (place: number) => blocks[place]?.kind === 'row' && blocks[place + 1]?.kind === 'rule'
  let first = at
  while (!isHead(first) && isOfTable(blocks[first - 1])) first--
  let last = at
  while (isOfTable(blocks[last + 1]) && !isHead(last + 1)) last++
  return [first, last]
}

/** Leads to what follows: `Open these ports:`. */
export function isLeadIn(block: Block | undefined): boolean {
  return (block?.kind === 'paragraph' || block?.kind === 'item') && /:[*_`)]*$/.test(block.text)
}
