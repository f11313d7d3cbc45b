/** What a PDF says about a piece of text. */
export interface PdfItem {
  str?: string
  hasEOL?: boolean
  height?: number
  transform?: number[]
}

export interface PdfLine {
  text: string
  /** Of most of its letters, in half points; 0 when it is not known. */
  size: number
  /** The distance of its base line from the lower edge of the page; undefined without text. */
  at: number | undefined
}

/** The lines of a page, in the order in which the file has them. */
export function linesOf(items: readonly PdfItem[]): PdfLine[] {
  const lines: PdfLine[] = []
  let text = ''
  let at: number | undefined
  let sizes = new Map<number, number>()
  const end = () => {
    const [size = 0] = [...sizes].sort((one, other) => other[1] - one[1])[0] ?? []
    lines.push({ text: text.replaceAll('\0', '').toWellFormed().trimEnd(), size, at })
    text = ''
    at = undefined
    sizes = new Map()
  }
  for (const { str = '', hasEOL = false, height = 0, transform = [] } of items) {
    if (str.trim() !== '' && height > 0) {
      const size = Math.round(height * 2) / 2
      sizes.set(size, (sizes.get(size) ?? 0) + str.length)
      at ??= transform[5]
    }
    text += str
    if (hasEOL) end()
  }
  if (text !== '') end()
  return lines
}

const outermost = 3
const fewestPages = 3
/** How far the same head may stand apart on two pages. */
const tolerance = 4

interface Edge {
  line: PdfLine
  page: number
  /** The text without its numbers. */
  key: string
  number: number | undefined
}

/**
 * Without running heads and feet: what stands first or last at the same height on several pages, with the same words, or
 * with numbers that count the pages. Large letters make a heading, which stays.
 */
export function withoutRunningHeads(pages: readonly (readonly PdfLine[])[], bodySize: number): PdfLine[][] {
  const running = new Set<PdfLine>()
  for (const direction of [1, -1]) {
    let pending = pages.map((lines) => byHeight(lines, direction))
    for (let depth = 0; depth < outermost; depth++) {
      const edges = pending.flatMap(([line], page): Edge[] => (line ? [edgeOf(line, page)] : []))
      const found = repeated(edges.filter(({ line }) => line.size <= bodySize * largeHead))
      for (const line of found) running.add(line)
      pending = pending.map((lines) => (lines[0] && found.has(lines[0]) ? lines.slice(1) : []))
    }
  }
  return pages.map((lines) => lines.filter((line) => !running.has(line)))
}

const largeHead = 1.15

function byHeight(lines: readonly PdfLine[], direction: number): PdfLine[] {
  return lines
    .filter(({ at, text }) => at !== undefined && text.trim() !== '')
    .sort((one, other) => ((other.at ?? 0) - (one.at ?? 0)) * direction)
    .slice(0, outermost)
}

function edgeOf(line: PdfLine, page: number): Edge {
  const text = line.text.trim().replace(/\s+/g, ' ')
  const digits = /\d+/.exec(text)?.[0]
  return { line, page, key: text.replace(/\d+/g, '#'), number: digits === undefined ? undefined : Number(digits) }
}

function repeated(edges: readonly Edge[]): Set<PdfLine> {
  const found = new Set<PdfLine>()
  for (const same of Map.groupBy(edges, ({ key }) => key).values())
    for (const edge of same) {
      const alike = same.filter(({ line }) => Math.abs((line.at ?? 0) - (edge.line.at ?? 0)) <= tolerance)
      if (alike.length >= fewestPages && (/\p{L}/u.test(edge.key) || countsPages(edge, alike))) found.add(edge.line)
    }
  return found
}

/** A number alone is a page's when it grows with the pages. */
function countsPages(edge: Edge, alike: readonly Edge[]): boolean {
  const steady = alike.filter(({ number = 0, page }) => number - page === (edge.number ?? 0) - edge.page)
  return edge.number !== undefined && steady.length >= fewestPages
}
