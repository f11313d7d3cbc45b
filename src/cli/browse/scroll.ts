/** What is scrolled through: runs, their entries, and the lines of each. Lines are laid out on demand. */
export interface Column {
  readonly runs: number
  entries(run: number): number
  lines(run: number, entry: number): readonly string[]
}

export interface Place {
  run: number
  entry: number
  line: number
}

export interface Page {
  lines: string[]
  firstRun: number
  lastRun: number
  atEnd: boolean
}

export const start: Place = { run: 0, entry: 0, line: 0 }

export function readPage(column: Column, place: Place, height: number): Page {
  const page: Page = { lines: [], firstRun: place.run, lastRun: place.run, atEnd: true }
  let skip = place.line
  for (let at: At | undefined = place; at !== undefined; at = nextEntry(column, at)) {
    const lines = column.lines(at.run, at.entry).slice(skip)
    skip = 0
    const room = height - page.lines.length
    if (lines.length > 0) page.lastRun = at.run
    page.lines.push(...lines.slice(0, room))
    if (lines.length > room) return { ...page, atEnd: false }
  }
  return page
}

/** Moves towards the end, at most to `endPlace`. */
export function moveOn(column: Column, place: Place, lines: number, height: number): Place {
  let at: At | undefined = place
  let line = place.line + lines
  while (at !== undefined) {
    const there = column.lines(at.run, at.entry).length
    if (line < there) {
      const moved = { run: at.run, entry: at.entry, line }
      return readPage(column, moved, height).lines.length < height ? endPlace(column, height) : moved
    }
    line -= there
    at = nextEntry(column, at)
  }
  return endPlace(column, height)
}

/** Moves towards the start, at most to the first line. */
export function moveBack(column: Column, place: Place, lines: number): Place {
  let at: At = place
  let line = place.line - lines
  while (line < 0) {
    const before = previousEntry(column, at)
    if (before === undefined) return start
    at = before
    line += column.lines(at.run, at.entry).length
  }
  return { run: at.run, entry: at.entry, line }
}

/** The place from which the last lines just fill the window. */
export function endPlace(column: Column, height: number): Place {
  if (column.runs === 0) return start
  const run = column.runs - 1
  const entry = column.entries(run) - 1
  return moveBack(column, { run, entry, line: column.lines(run, entry).length }, height)
}

type At = Pick<Place, 'run' | 'entry'>

function nextEntry(column: Column, { run, entry }: At): At | undefined {
  if (run >= column.runs) return undefined
  if (entry + 1 < column.entries(run)) return { run, entry: entry + 1 }
  return run + 1 < column.runs ? { run: run + 1, entry: 0 } : undefined
}

function previousEntry(column: Column, { run, entry }: At): At | undefined {
  if (entry > 0) return { run, entry: entry - 1 }
  return run > 0 ? { run: run - 1, entry: column.entries(run - 1) - 1 } : undefined
}
