import type { PartEnd } from './reader.ts'

/** The position behind the last blank line in the second half of the text. */
export const afterBlankLine: PartEnd = (text) => {
  const ends = ['\n\n', '\n\r\n'].map((blank) => {
    const at = text.lastIndexOf(blank)
    return at < text.length / 2 ? 0 : at + blank.length
  })
  return Math.max(...ends) || undefined
}

/** Before the last heading, or else as other text. */
export const beforeHeading: PartEnd = (text) => {
  for (let at = text.lastIndexOf('\n#'); at >= text.length / 2; at = text.lastIndexOf('\n#', at - 1))
    if (/^#{1,6}[ \t]/.test(text.slice(at + 1, at + 8))) return at + 1
  return afterBlankLine(text)
}

/** Before the last line that is not indented and follows a blank one: a function or a block begins there. */
export const beforeBlock: PartEnd = (text) => {
  for (let at = text.lastIndexOf('\n\n'); at >= text.length / 2; at = text.lastIndexOf('\n\n', at - 1))
    if (/^[^\s})\]]/.test(text.slice(at + 2, at + 3))) return at + 2
  return afterBlankLine(text)
}

/** Behind the last record: a line end within quotes is part of a value. */
export const afterRecord: PartEnd = (text) => {
  let end: number | undefined
  let from = 0
  while (from <= text.length) {
    const quote = text.indexOf('"', from)
    const line = text.lastIndexOf('\n', quote === -1 ? text.length : quote)
    if (line >= from) end = line + 1
    if (quote === -1) break
    const closing = text.indexOf('"', quote + 1)
    if (closing === -1) break
    from = closing + 1
  }
  return end
}

/** Behind a line end, else behind a comma: JSON may have no lines. */
export const afterMember: PartEnd = (text) => {
  for (const mark of ['\n', ',']) {
    const at = text.lastIndexOf(mark)
    if (at >= text.length / 2) return at + 1
  }
  return undefined
}
