import type { Heading } from '../../core/knowledge/drivers.ts'
import { createHyphens, type Hyphens } from './hyphens.ts'
import { hasLeader, withoutContents } from './pdf-contents.ts'
import { type PdfLine, withoutRunningHeads } from './pdf-lines.ts'

/** How much larger than the text a heading is. */
const larger = 1.12
const longestHeading = 200
/** Of all letters: what is more is text of another size. */
const mostHeadings = 0.25
const mostLevels = 6
/** Of the usual distance of lines: what is more ends a paragraph. */
const gap = 1.3
/** The distance of lines, in their size, on a page with too few of them to tell. */
const spacing = 1.4
const fewestDistances = 3

/** A text in which pages, paragraphs and headings stand apart; headings are known by their size. */
export function pdfText(given: readonly (readonly PdfLine[])[]): { text: string; pages: number[]; outline: Heading[] } {
  const body = bodySize(given.flat())
  const all = withoutContents(withoutRunningHeads(given, body))
  const levels = levelsOf(all.flat(), body)
  const hyphens = createHyphens(all.flat().map(({ text }) => text))
  const pages: number[] = []
  const outline: Heading[] = []
  let text = ''
  for (const lines of all) {
    pages.push(text.length)
    const page = pageText(lines, levels, hyphens)
    outline.push(...page.outline.map((heading) => ({ ...heading, start: heading.start + text.length })))
    text += `${page.text}\n\n`
  }
  return { text, pages, outline }
}

function pageText(given: readonly PdfLine[], levels: ReadonlyMap<number, number>, hyphens: Hyphens) {
  const outline: Heading[] = []
  const usual = usualDistance(given)
  let text = ''
  let last: PdfLine | undefined
  const lines = given.filter((line) => line.at !== undefined || line.text.trim() !== '').map((line) => ({ ...line }))
  for (const [index, line] of lines.entries()) {
    const title = line.text.trim()
    if (title === '') continue
    const level = levelOf(line, levels)
    const heading = outline.at(-1)
    const down = (last?.at ?? 0) - (line.at ?? 0)
    const isClose = last?.size === line.size && down > 0 && down < line.size * 2
    if (level !== undefined && heading && last && levelOf(last, levels) !== undefined && isClose) {
      const begun = text.slice(heading.start)
      const whole = (hyphens.join(begun, title) ?? [begun, title]).join(' ').trimEnd()
      heading.title = whole.slice(0, longestHeading)
      text = text.slice(0, heading.start) + whole
    } else if (level !== undefined) {
      text += text === '' ? '' : '\n\n'
      outline.push({ start: text.length, level, title: title.slice(0, longestHeading) })
      text += title
    } else {
      const afterHeading = last !== undefined && levelOf(last, levels) !== undefined
      const isFar =
        last?.at !== undefined &&
        line.at !== undefined &&
        down > (usual > 0 ? Math.max(usual, line.size) : line.size * spacing) * gap
      const next = lines[index + 1]
      if (next && levelOf(next, levels) === undefined) {
        const joined = hyphens.join(line.text, next.text)
        if (joined) [line.text, next.text] = joined
      }
      text += `${text === '' ? '' : afterHeading || isFar ? '\n\n' : '\n'}${line.text.trimEnd()}`
    }
    last = line
  }
  return { text, outline }
}

/** The size of most letters. */
function bodySize(lines: readonly PdfLine[]): number {
  const letters = lettersBySize(lines)
  return [...letters].reduce((best, each) => (each[1] > best[1] ? each : best), [0, 0])[0]
}

function lettersBySize(lines: readonly PdfLine[]): Map<number, number> {
  const letters = new Map<number, number>()
  for (const { size, text } of lines) if (size > 0) letters.set(size, (letters.get(size) ?? 0) + text.length)
  return letters
}

/** The level of each size that headings have, the largest first. */
function levelsOf(lines: readonly PdfLine[], body: number): Map<number, number> {
  const letters = lettersBySize(lines)
  const all = [...letters.values()].reduce((sum, each) => sum + each, 0)
  const sizes = [...letters.keys()].filter((size) => size >= body * larger).sort((one, other) => other - one)
  const used = sizes.reduce((sum, size) => sum + (letters.get(size) ?? 0), 0)
  if (body === 0 || used > all * mostHeadings) return new Map()
  return new Map(sizes.map((size, index) => [size, Math.min(index + 1, mostLevels)]))
}

/** Not for an initial of a paragraph, a number alone, a long text or a line of the contents. */
function levelOf({ size, text }: PdfLine, levels: ReadonlyMap<number, number>): number | undefined {
  return text.length <= longestHeading && /\p{L}.*\p{L}/u.test(text) && !hasLeader(text) ? levels.get(size) : undefined
}

/** The distance of most lines from the one before; 0 when they are few. */
function usualDistance(lines: readonly PdfLine[]): number {
  const counts = new Map<number, number>()
  for (const [index, { at }] of lines.entries()) {
    const before = lines[index - 1]?.at
    const distance = at === undefined || before === undefined ? 0 : Math.round((before - at) * 2) / 2
    if (distance > 0) counts.set(distance, (counts.get(distance) ?? 0) + 1)
  }
  const [most = [0, 0]] = [...counts].sort((one, other) => other[1] - one[1] || one[0] - other[0])
  return most[1] < fewestDistances ? 0 : most[0]
}
