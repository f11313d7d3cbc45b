import { diffArrays } from 'diff'

/** A stretch of an answer: in both, only in the earlier one, or only in the later one. */
export interface Stretch {
  kind: 'same' | 'gone' | 'new'
  text: string
}

/** Nobody reads a longer list of changes. */
const maxEditLength = 2_000

/**
 * What changed from one answer to another: by words, by lines when much has changed, as a whole when nearly all has: at more than
 * `maxEdits` changes, whose square the time grows with.
 */
export function diffAnswers(before: string, after: string, maxEdits: number = maxEditLength): Stretch[] {
  for (const pieces of [/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu, /[^\n]*\n|[^\n]+/g]) {
    const changes = diffArrays(before.match(pieces) ?? [], after.match(pieces) ?? [], { maxEditLength: maxEdits })
    if (changes === undefined) continue
    return joined(
      changes.map(({ added, removed, value }) => ({
        kind: added ? 'new' : removed ? 'gone' : 'same',
        text: value.join(''),
      })),
    )
  }
  return joined([
    { kind: 'gone', text: before },
    { kind: 'new', text: after },
  ])
}

/** Spaces between two replaced words count as replaced, so a phrase reads as one change. */
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
