import type { Heading } from '../../core/knowledge/drivers.ts'

interface Line {
  start: number
  text: string
}

function linesOf(text: string): Line[] {
  const lines: Line[] = []
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    lines.push({ start, text: text.slice(start, end).trimEnd() })
    start = end + 1
  }
  return lines
}

const adornment = /^([!-/:-@[-`{-~])\1{2,}$/

/**
 * Titles that are underlined, and maybe overlined, by repeated punctuation. Levels follow the first use of the marks, to
 * which new ones are added.
 */
export function restructuredOutline(text: string, marks: string[] = []): Heading[] {
  const lines = linesOf(text)
  const outline: Heading[] = []
  for (let index = 1; index < lines.length; index++) {
    const under = lines[index]?.text ?? ''
    const title = lines[index - 1]
    if (!title || title.text.trim() === '' || !adornment.test(under) || adornment.test(title.text)) continue
    const above = lines[index - 2]
    const over = above?.text === under
    if (under.length < title.text.trim().length || (!over && (/^\s/.test(title.text) || (above?.text ?? '') !== '')))
      continue
    const mark = `${under.charAt(0)}${over}`
    if (!marks.includes(mark)) marks.push(mark)
    outline.push({ start: (over ? above : title).start, level: marks.indexOf(mark) + 1, title: titleOf(title.text) })
  }
  return outline
}

const longestLine = 1_000
const asciidocFence = /^(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|\/{4,}|`{3,})$/

/** `== Title` and deeper, outside of delimited blocks. */
export function asciidocOutline(text: string): Heading[] {
  const outline: Heading[] = []
  let closing: string | undefined
  for (const line of linesOf(text)) {
    if (closing !== undefined) {
      if (line.text === closing) closing = undefined
      continue
    }
    if (asciidocFence.test(line.text)) closing = line.text
    const heading = /^(={1,6}|#{1,6})[ \t]+(\S.*)$/.exec(line.text.slice(0, longestLine))
    if (heading)
      outline.push({
        start: line.start,
        level: heading[1]?.length ?? 1,
        title: titleOf(withoutEnd(heading[2] ?? '', heading[1] ?? '')),
      })
  }
  return outline
}

/** AsciiDoc may close a title with the marks that opened it. */
function withoutEnd(title: string, marks: string): string {
  const text = title.slice(0, -marks.length)
  return title.endsWith(marks) && /[ \t]$/.test(text) ? text : title
}

/** `* Title` and deeper. */
export function orgOutline(text: string): Heading[] {
  const outline: Heading[] = []
  for (const line of linesOf(text)) {
    const heading = /^(\*+)[ \t]+(\S.*)$/.exec(line.text)
    if (heading) outline.push({ start: line.start, level: heading[1]?.length ?? 1, title: titleOf(heading[2] ?? '') })
  }
  return outline
}

function titleOf(line: string): string {
  return line.trim().slice(0, 200)
}
