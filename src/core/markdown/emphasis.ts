import type { Found, Inline } from './inline.ts'

/** Characters that may begin or end what is emphasised. */
export interface Run {
  type: 'run'
  mark: string
  length: number
  opens: boolean
  closes: boolean
}

/** A run that waits for its end. */
interface Opener {
  run: Run
  /** Its place in the pieces. */
  place: number
  /** Its characters that are not used yet. */
  left: number
}

/** What draws it calls itself. */
const deepest = 16

export function runAt(text: string, at: number): Found {
  const mark = text.charAt(at)
  let end = at
  while (text[end] === mark) end++
  // Two halves of a character outside of the first plane are one.
  const before = text.slice(Math.max(0, at - 2), at)
  const after = text.slice(end, end + 2)
  const [isSpaceBefore, isSpaceAfter] = [/(?:^|\s)$/.test(before), /^(?:$|\s)/.test(after)]
  const [isSignBefore, isSignAfter] = [/[\p{P}\p{S}]$/u.test(before), /^[\p{P}\p{S}]/u.test(after)]
  const left = !isSpaceAfter && (!isSignAfter || isSpaceBefore || isSignBefore)
  const right = !isSpaceBefore && (!isSignBefore || isSpaceAfter || isSignAfter)
  const isWord = mark === '_'
  const isRun = mark !== '~' || end - at < 3
  const opens = isRun && left && (!isWord || !right || isSignBefore)
  const closes = isRun && right && (!isWord || !left || isSignAfter)
  return { piece: { type: 'run', mark, length: end - at, opens, closes }, end }
}

/** The pieces with their runs as emphasis, or as text where nothing ends them. */
export function emphasised(pieces: readonly (Inline | Run)[]): Inline[] {
  const result: Inline[] = []
  const openers: Opener[] = []
  /** Of each kind of end, how many openers are known not to fit: no end looks at one twice. */
  const unfit = new Map<string, number>()
  const depths = new WeakMap<Inline, number>()

  /** The nearest one that the run can end. */
  function openerOf(run: Run): Opener | undefined {
    const kind = `${run.mark}${run.length % 3}${run.opens}`
    const first = unfit.get(kind) ?? 0
    for (let place = openers.length - 1; place >= first; place--) {
      const opener = openers[place]
      if (opener === undefined || !fits(opener.run, run)) continue
      keep(place)
      return opener
    }
    unfit.set(kind, openers.length)
    return undefined
  }

  /** What is not kept is text. */
  function keep(count: number): void {
    openers.length = count
    for (const [kind, known] of unfit) unfit.set(kind, Math.min(known, count))
  }

  for (const piece of pieces) {
    if (piece.type !== 'run') {
      result.push(piece)
      continue
    }
    const { mark, opens, closes } = piece
    let left = piece.length
    while (closes && left > 0) {
      const opener = openerOf(piece)
      if (opener === undefined) break
      const content = joined(result.splice(opener.place + 1))
      const depth = content.reduce((most, inner) => Math.max(most, depths.get(inner) ?? 0), 1)
      if (depth > deepest) {
        for (const inner of content) result.push(inner)
        continue
      }
      const used = mark === '~' ? left : Math.min(left, opener.left, 2)
      left -= used
      opener.left -= used
      result.pop()
      if (opener.left > 0) {
        result.push({ type: 'text', text: mark.repeat(opener.left) })
        openers.push(opener)
      }
      const styled: Inline = { type: mark === '~' ? 'del' : used === 2 ? 'strong' : 'em', content }
      depths.set(styled, depth + 1)
      result.push(styled)
    }
    if (left === 0) continue
    if (opens) openers.push({ run: piece, place: result.length, left })
    result.push({ type: 'text', text: mark.repeat(left) })
  }
  return joined(result)
}

function fits(opener: Run, end: Run): boolean {
  if (opener.mark !== end.mark) return false
  if (end.mark === '~') return opener.length === end.length
  const isBoth = opener.closes || end.opens
  return !isBoth || (opener.length + end.length) % 3 !== 0 || (opener.length % 3 === 0 && end.length % 3 === 0)
}

/** With the texts beside each other as one. */
function joined(pieces: readonly Inline[]): Inline[] {
  const result: Inline[] = []
  for (const piece of pieces) {
    const before = result.at(-1)
    if (piece.type !== 'text') result.push(piece)
    else if (before?.type === 'text') before.text += piece.text
    else if (piece.text !== '') result.push({ ...piece })
  }
  return result
}
