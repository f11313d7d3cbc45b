import { escapeHtml } from './markup/escape.ts'

/** Paragraphs, tables and notes of a document as HTML, in the order in which RTF tells them. */
export interface RtfWriter {
  add(text: string): void
  /** `level`: of a heading; 0 for text. Within a table or a note, paragraphs are one text. */
  endParagraph(level: number, isInside: boolean): void
  endCell(): void
  endRow(): void
  /** The text up to `endNote` is put in parentheses behind what is before it. */
  beginNote(): void
  endNote(): void
  /** Ends what is open. */
  html(level: number): string
}

export function createRtfWriter(): RtfWriter {
  const html: string[] = []
  let paragraph = ''
  /** The paragraph that a note stands in, up to the note. */
  let before = ''
  let cells: string[] = []
  let rows: string[] = []

  const endTable = () => {
    if (rows.length > 0) html.push(`<table>${rows.join('')}</table>`)
    rows = []
  }
  const endParagraph = (level: number, isInside: boolean) => {
    if (isInside) {
      paragraph += ' '
      return
    }
    endTable()
    const text = paragraph.trim()
    const tag = level > 0 ? `h${Math.min(6, level)}` : 'p'
    if (text !== '') html.push(`<${tag}>${escapeHtml(text).replaceAll('\n', '<br>')}</${tag}>`)
    paragraph = ''
  }
  const endRow = () => {
    if (cells.length > 0) rows.push(`<tr>${cells.join('')}</tr>`)
    cells = []
  }

  return {
    add(text) {
      paragraph += text
    },
    endParagraph,
    endCell() {
      cells.push(`<td>${escapeHtml(paragraph.trim())}</td>`)
      paragraph = ''
    },
    endRow,
    beginNote() {
      before = paragraph
      paragraph = ''
    },
    endNote() {
      paragraph = `${before.trimEnd()} (${paragraph.trim()})`
    },
    html(level) {
      endRow()
      endParagraph(level, false)
      endTable()
      return html.join('')
    },
  }
}
