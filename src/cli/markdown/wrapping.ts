import stringWidth from 'string-width'

/**
 * Characters whose width differs between terminals: joined emoji, skin tones, flags, emoji variants; vowel signs that take
 * a column and joined consonants, as in Devanagari.
 */
const disputed =
  /[\u200d\ufe0f\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}\u0900-\u0dff\u0e33\u0eb3\u1000-\u109f\u1780-\u17ff\p{Mc}]/u
const ascii = /^[\x20-\x7e]*$/
const styleCodes = /\p{Cc}\[\d+m/gu
const tokens = /\n|(\p{Cc}\[\d+m)| +|[^\p{Cc} ]+|\p{Cc}/gu
const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const closings: Record<number, string> = { 1: '22', 2: '22', 3: '23', 4: '24', 7: '27', 9: '29' }

/**
 * Wraps text at its widest possible width, so that no terminal cuts the end of a line. The spaces at which a line is broken
 * are left out. Styles are closed at a line's end and opened again on the next line.
 */
export function wrapText(text: string, columns: number): string {
  if (text.length <= columns && !disputed.test(text) && widestOf(text) <= columns) return text
  return wrapFrom(text, columns, 0)
}

/** The same for text in columns: what is wrapped goes on below the second column of its line, where there is one. */
export function wrapColumns(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => (line.length <= columns && ascii.test(line) ? line : wrapRow(line, columns)))
    .join('\n')
}

function wrapRow(line: string, columns: number): string {
  const [lead = ''] = /^ */.exec(line) ?? []
  const [whole, first = ''] = /^( *\S+(?: \S+)*) {2,}(?=\S)/.exec(line) ?? []
  if (whole === undefined) return wrapFrom(line, columns, lead.length < columns / 2 ? lead.length : 0)
  const second = line.slice(whole.length)
  const longest = Math.max(...second.split(' ').map(widestOf))
  const indent = widestOf(whole)
  if (indent <= columns / 2 && longest <= columns - indent) return wrapFrom(line, columns, indent)
  // Too little room beside the first column: below it, then.
  return wrapFrom(`${first}  ${second}`, columns, Math.min(lead.length + 2, columns >> 1))
}

/** `indent`: of each line but the first. */
function wrapFrom(text: string, columns: number, indent: number): string {
  let wrapped = ''
  /** Pending: may still move to the next line. */
  let word = ''
  let wordWidth = 0
  let spaces = ''
  let width = 0
  let limit = columns
  let styles: string[] = []
  const breakLine = (before: number) => {
    wrapped += `${styles.map(close).reverse().join('')}\n${' '.repeat(before)}${styles.join('')}`
    spaces = ''
    width = 0
    limit = columns - before
  }
  const endWord = () => {
    if (width > 0 && width + spaces.length + wordWidth > limit) breakLine(indent)
    wrapped += spaces + word
    for (const [code] of word.matchAll(styleCodes)) styles = styled(styles, code)
    width += spaces.length + wordWidth
    word = ''
    wordWidth = 0
    spaces = ''
  }
  for (const [token, isStyle] of text.matchAll(tokens)) {
    if (isStyle !== undefined) word += token
    else if (token === '\n') {
      endWord()
      breakLine(0)
    } else if (token.startsWith(' ')) {
      endWord()
      spaces = token.slice(0, Math.max(1, columns))
    } else if (token.length + wordWidth + spaces.length <= limit && ascii.test(token)) {
      word += token
      wordWidth += token.length
    } else {
      for (const { segment } of segmenter.segment(token)) {
        const segmentWidth = widestOf(segment)
        const isTooLong = () => spaces.length + wordWidth + segmentWidth > limit
        if (width > 0 && isTooLong()) breakLine(indent)
        if (wordWidth > 0 && isTooLong()) {
          endWord()
          breakLine(indent)
        }
        word += segment
        wordWidth += segmentWidth
      }
    }
  }
  endWord()
  return wrapped
}

/** The maximum width of a line on any terminal. */
export function widestOf(text: string): number {
  if (!disputed.test(text)) return stringWidth(text)
  const apart = [...text].reduce((sum, character) => sum + stringWidth(character), 0)
  return Math.max(apart, stringWidth(text))
}

function styled(styles: string[], code: string): string[] {
  const open = styles.filter((style) => close(style) !== code)
  return open.length === styles.length ? [...styles, code] : open
}

function close(style: string): string {
  const code = Number(/\d+/.exec(style)?.[0])
  return `\x1b[${closings[code] ?? (code >= 40 && code < 50 ? '49' : '39')}m`
}
