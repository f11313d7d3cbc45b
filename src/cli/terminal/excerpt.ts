const numbered = /^([> ] *\d* +\| )(.*)$/
const mark = '…'

/** Lines of code with their numbers, each cut to fit; what the caret points at stays. Without `columns` as they are. */
export function fitExcerpt(excerpt: string, columns: number | undefined): string {
  if (columns === undefined) return excerpt
  const lines = excerpt.split('\n').map((line) => numbered.exec(line)?.slice(1) ?? ['', line])
  const room = Math.max(1, columns - (lines[0]?.[0]?.length ?? 0))
  const caret = lines.map(([, text = '']) => /^ *\^$/.exec(text)?.[0].length ?? 0).find((length) => length > 0) ?? 0
  const from = caret > room - 1 ? caret - Math.ceil(room / 2) : 0
  return lines.map(([gutter = '', text = '']) => gutter + windowOf(text, from, room)).join('\n')
}

function windowOf(text: string, from: number, room: number): string {
  if (/^ *\^$/.test(text)) return text.slice(from)
  const seen = text.slice(from, from + room)
  const start = from > 0 && seen !== '' ? mark + seen.slice(1) : seen
  return text.length > from + room ? start.slice(0, -1) + mark : start
}

/** The columns of the terminal on which errors are said; undefined when it is none. */
export function errorColumns(): number | undefined {
  return process.stderr.isTTY ? process.stderr.columns : undefined
}
