import type { PdfLine } from './pdf-lines.ts'

/** A row of dots, and a number or a Roman one. */
const leader = /(?:\s?\.){4,}\s*(?:\d{1,5}|[ivxlcdm]{1,8})$/i

/** Whether a line ends as those of a table of contents do. */
export function hasLeader(text: string): boolean {
  const line = text.trimEnd()
  return /\.\s?\.\s?\./.test(line) && leader.test(line)
}

/**
 * Without the lines of a table of contents: they repeat headings, and would be found instead of them. A line stays whose words
 * stand nowhere else, as those of a price list.
 */
export function withoutContents(pages: readonly (readonly PdfLine[])[]): PdfLine[][] {
  const listed = pages.some((lines) => lines.some(({ text }) => hasLeader(text)))
  if (!listed) return pages.map((lines) => [...lines])
  const others = new Set<string>()
  for (const lines of pages)
    for (const [at, { text }] of lines.entries()) {
      if (hasLeader(text)) continue
      others.add(keyOf(text))
      // A heading of two lines.
      others.add(keyOf(`${text.replace(/-\s*$/, '')}${lines[at + 1]?.text ?? ''}`))
    }
  return pages.map((lines) => lines.filter(({ text }) => !hasLeader(text) || !others.has(keyOf(titleIn(text)))))
}

function titleIn(text: string): string {
  return text.trimEnd().replace(leader, '')
}

function keyOf(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join('')
}
