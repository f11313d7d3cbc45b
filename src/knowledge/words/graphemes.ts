let segmenter: Intl.Segmenter | undefined

/** The segmenter is made on first use: it loads the data of all languages. */
function segment(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' })
  return segmenter.segment(text)
}

/** Characters that never join another of them: Latin, Greek, Cyrillic, kana, Han. Not CR and LF, which join. */
function isPlain(code: number): boolean {
  if (code < 0x300) return code !== 13 && code !== 10 && code !== 0xa9 && code !== 0xae
  if (code < 0x530) return code >= 0x370 && (code < 0x483 || code > 0x489)
  return (code >= 0x4e00 && code <= 0x9fff) || (code >= 0x3041 && code <= 0x3096) || (code >= 0x30a1 && code <= 0x30fa)
}

function isPlainBreak(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  const after = text.charCodeAt(at)
  if (before === 10) return true
  if (after === 10 || after === 13) return before !== 13
  return isPlain(before) && isPlain(after)
}

/** A position at or before `at` where a cluster begins for certain, found without the segmenter. */
function safeStart(text: string, at: number, floor: number): number {
  for (let index = at; index > floor; index--) if (isPlainBreak(text, index)) return index
  return floor
}

/** The last cluster boundary at or before `at`; `floor` must be one. */
export function boundaryBefore(text: string, at: number, floor: number): number {
  if (at >= text.length) return text.length
  if (at <= floor) return floor
  if (isPlainBreak(text, at)) return at
  const from = safeStart(text, at, floor)
  if (from === at) return at
  // Whether a cluster begins at `at` depends on the text before it and on one character after it.
  const found = segment(text.slice(from, at + 2)).containing(at - from)
  return from + (found?.index ?? 0)
}

/** The first cluster boundary at or after `at`; `floor` must be one at or before `at`. */
export function boundaryAfter(text: string, at: number, floor: number): number {
  if (at >= text.length) return text.length
  const before = boundaryBefore(text, at, floor)
  if (before === at) return at
  for (let reach = 32; ; reach *= 4) {
    const end = Math.min(text.length, at + reach)
    const found = segment(text.slice(before, end)).containing(0)
    const after = before + (found?.segment.length ?? 1)
    if (after < end || end === text.length) return Math.max(after, at)
  }
}

/** Whether a cluster begins at `at`; `floor` must be a boundary at or before it. */
export function isBoundary(text: string, at: number, floor: number): boolean {
  return boundaryBefore(text, at, floor) === at
}
