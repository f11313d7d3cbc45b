/** Of an item of a list. */
export interface Mark {
  /** Of one list are the items with the same kind: their bullet, or what follows the number. */
  kind: string
  start: number | undefined
  /** The column at which the item's text begins. */
  column: number
}

export interface Fence {
  marker: string
  column: number
  lang: string
}

const item = /^( {0,3})([-+*]|(\d{1,9})[.)])(?=[ \t]|$)( *)/
const rule = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/
const fence = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)$/
const quoted = /^ {0,3}> ?/
/** Of the lists and quotes that a line is in: as many as are read. */
const containers = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t])(?: {0,3}\[[ x]\])?)){0,8}/

export function isBlank(line = ''): boolean {
  return /^[ \t]*$/.test(line)
}

/** The column of its first character, with tabs to each fourth. */
export function indentOf(line: string): number {
  let column = 0
  for (let at = 0; line[at] === ' ' || line[at] === '\t'; at++) column += line[at] === ' ' ? 1 : 4 - (column % 4)
  return column
}

/** Without its first columns, as far as they are empty. */
export function withoutIndent(line: string, columns: number): string {
  let column = 0
  let at = 0
  for (; column < columns && (line[at] === ' ' || line[at] === '\t'); at++) {
    column += line[at] === ' ' ? 1 : 4 - (column % 4)
  }
  return ' '.repeat(Math.max(0, column - columns)) + line.slice(at)
}

export function isRule(line: string): boolean {
  return rule.test(line)
}

export function markOf(line: string): Mark | undefined {
  const [, indent = '', marker = '', number, space = ''] = item.exec(line) ?? []
  if (marker === '' || isRule(line)) return undefined
  const before = indent.length + marker.length
  const isText = space !== '' && space.length < 5 && before + space.length < line.length
  return {
    kind: marker.slice(-1),
    start: number === undefined ? undefined : Number(number),
    column: before + (isText ? space.length : 1),
  }
}

export function fenceOf(line: string): Fence | undefined {
  const [, indent = '', marker, lang = ''] = fence.exec(line) ?? []
  return marker === undefined ? undefined : { marker, column: indent.length, lang: lang.trim() }
}

export function endsFence(line: string, { marker }: Fence): boolean {
  const bare = line.trim()
  return indentOf(line) < 4 && bare.startsWith(marker) && bare === marker.charAt(0).repeat(bare.length)
}

/** Its level and its text. */
export function headingOf(line: string): [level: number, text: string] | undefined {
  const [start, marks = ''] = /^ {0,3}(#{1,6})(?=[ \t]|$)/.exec(line) ?? []
  if (start === undefined) return undefined
  const text = line.slice(start.length).trim()
  let end = text.length
  while (text[end - 1] === '#') end--
  const isClosed = end === 0 || text[end - 1] === ' ' || text[end - 1] === '\t'
  return [marks.length, isClosed ? text.slice(0, end).trim() : text]
}

/** What follows the mark of a quote. */
export function quoteOf(line: string): string | undefined {
  const [mark] = quoted.exec(line) ?? []
  return mark === undefined ? undefined : line.slice(mark.length)
}

/** Whether it ends a paragraph before it. */
export function interrupts(line: string): boolean {
  const mark = markOf(line)
  const isItem = mark !== undefined && (mark.start ?? 1) === 1 && mark.column < line.length
  return isItem || isRule(line) || quoted.test(line) || (fenceOf(line) ?? headingOf(line)) !== undefined
}

/** Asked line by line, tells whether a paragraph is open after it: the next line may go on with it without its indent or mark. */
export function openParagraph(): (line: string) => boolean {
  let open: Fence | undefined
  return (line) => {
    const bare = line.replace(containers, '')
    if (open !== undefined) {
      if (endsFence(bare, open)) open = undefined
      return false
    }
    open = fenceOf(bare.trimStart())
    return !(open !== undefined || isBlank(bare) || isRule(bare) || headingOf(bare) !== undefined)
  }
}
