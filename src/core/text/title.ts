const longest = 120
/** Enough for the longest title whose characters are of many code points each, after long whitespace. */
const titleSource = 4_096

/** Made when a title is cut: it loads the data of all languages. */
let segmenter: Intl.Segmenter | undefined

/** The beginning of a text in one line, without control and direction characters; null when nothing is left of it. */
export function titleOf(text: string): string | null {
  const line = text
    .slice(0, titleSource)
    .toWellFormed()
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, '')
    .trim()
  const points = [...line]
  if (points.length <= longest) return line === '' ? null : line
  const cut = points.slice(0, longest).join('').length
  segmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' })
  const across = segmenter.segment(line.slice(0, 2 * cut)).containing(cut)
  return line.slice(0, across === undefined || across.index === 0 ? cut : across.index).trimEnd()
}
