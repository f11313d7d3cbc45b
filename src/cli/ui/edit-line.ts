/** A line of input and where the cursor stands in it, in code units. */
export interface Line {
  text: string
  cursor: number
}

export const emptyLine: Line = { text: '', cursor: 0 }

export interface EditKey {
  leftArrow: boolean
  rightArrow: boolean
  home: boolean
  end: boolean
  backspace: boolean
  delete: boolean
  ctrl: boolean
  meta: boolean
}

/** The line after a key. Characters are what a person sees as one; a paste comes as one input, its line ends as spaces. */
export function editLine(line: Line, input: string, key: EditKey): Line {
  const { text, cursor } = line
  const before = text.slice(0, cursor)
  const after = text.slice(cursor)
  if (key.leftArrow) return { text, cursor: cursor - lastCharacter(before).length }
  if (key.rightArrow) return { text, cursor: cursor + firstCharacter(after).length }
  if (key.home || (key.ctrl && input === 'a')) return { text, cursor: 0 }
  if (key.end || (key.ctrl && input === 'e')) return { text, cursor: text.length }
  if (key.ctrl && input === 'u') return { text: after, cursor: 0 }
  if (key.ctrl && input === 'k') return { text: before, cursor }
  if (key.backspace) {
    const kept = before.slice(0, before.length - lastCharacter(before).length)
    return { text: kept + after, cursor: kept.length }
  }
  if (key.delete) return { text: before + after.slice(firstCharacter(after).length), cursor }
  if (key.ctrl || key.meta) return line
  const typed = input.replace(/[\r\n\t]+/g, ' ').replace(/\p{Cc}/gu, '')
  return { text: before + typed + after, cursor: cursor + typed.length }
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

function firstCharacter(text: string): string {
  const [first] = segmenter.segment(text)
  return first?.segment ?? ''
}

function lastCharacter(text: string): string {
  return [...segmenter.segment(text)].at(-1)?.segment ?? ''
}
