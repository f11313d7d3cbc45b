/** A stretch of an answer: in both versions, only in the earlier, or only in the later. */
export interface Stretch {
  kind: 'same' | 'gone' | 'new'
  text: string
}

/** About 1,400 changed words on both sides: 4 MB. */
const maxCells = 2_000_000

/** Compares two answers by words, by lines in long texts, as a whole in very long ones. */
export function diffAnswers(before: string, after: string): Stretch[] {
  return diff(before, after, wordsOf) ?? diff(before, after, linesOf) ?? whole(before, after)
}

function wordsOf(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? []
}

function whole(before: string, after: string): Stretch[] {
  return joined([
    { kind: 'gone', text: before },
    { kind: 'new', text: after },
  ])
}

function diff(before: string, after: string, split: (text: string) => string[]): Stretch[] | undefined {
  const a = split(before)
  const b = split(after)
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const middle = middleOf(a.slice(start, a.length - end), b.slice(start, b.length - end))
  if (middle === undefined) return undefined
  const same = (pieces: string[]): Stretch => ({ kind: 'same', text: pieces.join('') })
  return joined([same(a.slice(0, start)), ...middle, same(a.slice(a.length - end))])
}

/** Longest common subsequence, one stretch per piece; undefined when the texts are too long. */
function middleOf(a: readonly string[], b: readonly string[]): Stretch[] | undefined {
  const width = b.length + 1
  if ((a.length + 1) * width > maxCells) return undefined
  const lengths = new Uint16Array((a.length + 1) * width)
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0
  for (let row = a.length - 1; row >= 0; row--) {
    for (let column = b.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        a[row] === b[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const stretches: Stretch[] = []
  let row = 0
  let column = 0
  while (row < a.length || column < b.length) {
    const [old, next] = [a[row], b[column]]
    if (old !== undefined && old === next) {
      stretches.push({ kind: 'same', text: old })
      row++
      column++
    } else if (next === undefined || (old !== undefined && at(row + 1, column) >= at(row, column + 1))) {
      stretches.push({ kind: 'gone', text: old ?? '' })
      row++
    } else {
      stretches.push({ kind: 'new', text: next })
      column++
    }
  }
  return stretches
}

/**
 * Merges neighbours of a kind. Spaces between two replaced words count as replaced, so a phrase reads as one change.
 */
function joined(stretches: readonly Stretch[]): Stretch[] {
  const result: Stretch[] = []
  let gone = ''
  let added = ''
  let spaces = ''
  const keep = (text: string) => {
    if (gone !== '') result.push({ kind: 'gone', text: gone })
    if (added !== '') result.push({ kind: 'new', text: added })
    gone = ''
    added = ''
    const last = result.at(-1)
    if (text === '') return
    if (last?.kind === 'same') last.text += text
    else result.push({ kind: 'same', text })
  }
  for (const { kind, text } of stretches) {
    if (kind === 'same') {
      spaces += text
      if (gone !== '' && added !== '' && spaces.trim() === '') continue
      keep(spaces)
    } else {
      gone += spaces + (kind === 'gone' ? text : '')
      added += spaces + (kind === 'new' ? text : '')
    }
    spaces = ''
  }
  keep(spaces)
  return result
}
