/** The input, possibly several lines, and the cursor in code units. */
export interface Line {
  text: string
  cursor: number
}

export const emptyLine: Line = { text: '', cursor: 0 }

export interface EditKey {
  leftArrow: boolean
  rightArrow: boolean
  upArrow: boolean
  downArrow: boolean
  home: boolean
  end: boolean
  backspace: boolean
  delete: boolean
  ctrl: boolean
  meta: boolean
}

/** The line after a key; the same object when the key does nothing. Moves by whole graphemes. */
export function editLine(line: Line, input: string, key: EditKey): Line {
  const { text, cursor } = line
  const before = text.slice(0, cursor)
  const after = text.slice(cursor)
  const word = key.ctrl || key.meta
  if (key.leftArrow || (key.meta && input === 'b')) {
    return { text, cursor: cursor - (word ? lastWord(before) : lastCharacter(before)).length }
  }
  if (key.rightArrow || (key.meta && input === 'f')) {
    return { text, cursor: cursor + (word ? firstWord(after) : firstCharacter(after)).length }
  }
  if (key.upArrow || key.downArrow) return moveLine(line, key.upArrow)
  if (key.home || (key.ctrl && input === 'a')) return { text, cursor: before.lastIndexOf('\n') + 1 }
  if (key.end || (key.ctrl && input === 'e')) return { text, cursor: cursor + restOfLine(after) }
  if (key.ctrl && input === 'u') {
    const kept = before.slice(0, before.lastIndexOf('\n') + 1)
    return { text: kept + after, cursor: kept.length }
  }
  if (key.ctrl && input === 'k') return { text: before + after.slice(restOfLine(after)), cursor }
  if ((key.ctrl && input === 'w') || (key.backspace && word)) return erase(before, lastWord(before), after)
  if (key.backspace) return erase(before, lastCharacter(before), after)
  if (key.delete) return { text: before + after.slice(firstCharacter(after).length), cursor }
  if (key.ctrl || key.meta) return line
  return insert(line, input)
}

/** Inserts typed or pasted text: line ends stay, tabs become spaces, other controls are removed. */
export function insert({ text, cursor }: Line, input: string): Line {
  const typed = input
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', '    ')
    .replace(/(?!\n)\p{Cc}/gu, '')
  return { text: text.slice(0, cursor) + typed + text.slice(cursor), cursor: cursor + typed.length }
}

function moveLine(line: Line, up: boolean): Line {
  const { text, cursor } = line
  const start = text.lastIndexOf('\n', cursor - 1) + 1
  const column = cursor - start
  if (up) {
    if (start === 0) return line
    const above = text.lastIndexOf('\n', start - 2) + 1
    return { text, cursor: Math.min(above + column, start - 1) }
  }
  const below = cursor + restOfLine(text.slice(cursor)) + 1
  if (below > text.length) return line
  return { text, cursor: Math.min(below + column, below + restOfLine(text.slice(below))) }
}

function erase(before: string, erased: string, after: string): Line {
  const kept = before.slice(0, before.length - erased.length)
  return { text: kept + after, cursor: kept.length }
}

function restOfLine(text: string): number {
  const end = text.indexOf('\n')
  return end === -1 ? text.length : end
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** Maximum length of a grapheme in code units. */
const longestCharacter = 64

function firstCharacter(text: string): string {
  const [first] = segmenter.segment(text.slice(0, longestCharacter))
  return first?.segment ?? ''
}

function lastCharacter(text: string): string {
  return [...segmenter.segment(text.slice(-longestCharacter))].at(-1)?.segment ?? ''
}

function firstWord(text: string): string {
  return /^\s*\S+/.exec(text)?.[0] ?? text
}

function lastWord(text: string): string {
  return /\S+\s*$/.exec(text.slice(-1024))?.[0] ?? text.slice(-1024)
}
