import type { Span } from '../../core/knowledge/drivers.ts'

/** Finds the first and last line of pieces; call it in the order of their starts. */
export function lineNumbering(text: string): (start: number, end: number, headingPath?: string[]) => Span {
  const first = lineCounter(text)
  const last = lineCounter(text)
  return (start, end, headingPath) => ({
    start,
    end,
    lineStart: first(start),
    lineEnd: last(Math.max(start, end - 1)),
    ...(headingPath === undefined || headingPath.length === 0 ? {} : { headingPath }),
  })
}

function lineCounter(text: string): (at: number) => number {
  let line = 1
  let next = text.indexOf('\n')
  return (at) => {
    while (next !== -1 && next < at) {
      line++
      next = text.indexOf('\n', next + 1)
    }
    return line
  }
}
