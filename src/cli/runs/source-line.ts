import { terminalLine } from '../terminal/text.ts'

/** The place of a passage: `docs/getting-started.md:12`, or with the page. */
export function formatPlace(place: {
  source: string
  line_start?: number | undefined
  page?: number | undefined
}): string {
  const source = terminalLine(place.source)
  if (place.line_start !== undefined) return `${source}:${place.line_start}`
  return place.page === undefined ? source : `${source} (page ${place.page})`
}

/** With its last line too: `docs/getting-started.md:12-20`. */
export function formatLines(place: Parameters<typeof formatPlace>[0] & { line_end?: number | undefined }): string {
  const { line_start: start, line_end: end } = place
  return start === undefined || end === undefined || end <= start ? formatPlace(place) : `${formatPlace(place)}-${end}`
}

/** As an answer cites it: `[1] docs/getting-started.md:12`. */
export function formatSource(source: Parameters<typeof formatPlace>[0] & { index: number }): string {
  return `[${source.index}] ${formatPlace(source)}`
}

/** The sources that the answer does not list itself, as offline answers do. */
export function unlisted<T extends Parameters<typeof formatSource>[0]>(sources: readonly T[], answer: string): T[] {
  return sources.filter((source) => !answer.includes(formatSource(source)))
}
