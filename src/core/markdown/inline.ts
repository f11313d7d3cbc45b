import { addressIn, nakedAddress, target } from './addresses.ts'
import { emphasised, type Run, runAt } from './emphasis.ts'
import { entityAt } from './entities.ts'

export type Inline =
  /** `literal`: escaped, or HTML, so that it means nothing else than its characters. */
  | { type: 'text' | 'literal' | 'code'; text: string }
  | { type: 'break' }
  | { type: 'image'; href: string; text: string }
  | { type: 'strong' | 'em' | 'del'; content: Inline[] }
  | { type: 'link'; href: string; content: Inline[] }

/** A piece, and where the text goes on. */
export interface Found {
  piece: Inline | Run
  end: number
}

/** It may begin a link or an image. */
interface Bracket {
  /** Its place among the pieces. */
  place: number
  /** Where the text after it begins. */
  from: number
  isImage: boolean
}

const special = /[\\`*_~[\]<&\n]|!\[|(?<![a-z\d])(?:https?:\/\/|www\.)|(?<![\w.+-])[\w.+-]+@/gi
const punctuation = /[!-/:-@[-`{-~]/
const tag = /<(?:!--|[/?!]?[a-z][^<>]*>)/iy

/** The text of one block in pieces. Code, links and HTML come before emphasis. */
export function readInline(text: string): Inline[] {
  const pieces: (Inline | Run)[] = []
  const brackets: Bracket[] = []
  /** So many brackets, from the first, begin no link, since a link is in them. */
  let dead = 0
  /** The runs of backticks, the last first, by their length. */
  const ticks = Map.groupBy([...text.matchAll(/`+/g)].reverse(), ([run]) => run.length)

  function codeAt(at: number): Found {
    let end = at
    while (text[end] === '`') end++
    const ends = ticks.get(end - at) ?? []
    while ((ends.at(-1)?.index ?? end) < end) ends.pop()
    const close = ends.at(-1)?.index
    if (close === undefined) return { piece: { type: 'text', text: text.slice(at, end) }, end }
    const code = text.slice(end, close).replaceAll('\n', ' ')
    const isPadded = code.startsWith(' ') && code.endsWith(' ') && code.trim() !== ''
    return { piece: { type: 'code', text: isPadded ? code.slice(1, -1) : code }, end: close + end - at }
  }

  /** The link or image that ends with the bracket. */
  function linkAt(at: number): Found | undefined {
    const bracket = brackets.pop()
    const isDead = brackets.length < dead && bracket?.isImage === false
    dead = Math.min(dead, brackets.length)
    const found = bracket === undefined || isDead ? undefined : target(text, at + 1)
    if (bracket === undefined || found === undefined) return undefined
    const { href, end } = found
    const [, ...content] = pieces.splice(bracket.place)
    if (bracket.isImage) return { piece: { type: 'image', href, text: text.slice(bracket.from, at) }, end }
    dead = brackets.length
    // Addresses in the text of a link are no links of their own.
    const inner = content.flatMap<Inline | Run>((piece) => (piece.type === 'link' ? piece.content : [piece]))
    return { piece: { type: 'link', href, content: emphasised(inner) }, end }
  }

  /** Spaces at the end of a line, two or more, break it. */
  function breakAt(at: number): Found {
    const before = pieces.at(-1)
    let isBreak = false
    if (before?.type === 'text') {
      isBreak = before.text.endsWith('  ')
      before.text = before.text.replace(/(?<! ) +$/, '')
    }
    return { piece: isBreak ? { type: 'break' } : { type: 'text', text: '\n' }, end: at + 1 }
  }

  function escapeAt(at: number): Found | undefined {
    const next = text.charAt(at + 1)
    if (next === '\n') return { piece: { type: 'break' }, end: at + 2 }
    return punctuation.test(next) ? { piece: { type: 'literal', text: next }, end: at + 2 } : undefined
  }

  function tagAt(at: number): Found | undefined {
    tag.lastIndex = at
    const [found] = tag.exec(text) ?? []
    return found === undefined ? undefined : { piece: { type: 'literal', text: found }, end: at + found.length }
  }

  function pieceAt(what: string, at: number): Found | undefined {
    switch (what) {
      case '\\':
        return escapeAt(at)
      case '`':
        return codeAt(at)
      case '*':
      case '_':
      case '~':
        return runAt(text, at)
      case '\n':
        return breakAt(at)
      case '&':
        return entityAt(text, at)
      case '<':
        return addressIn(text, at) ?? tagAt(at)
      case ']':
        return linkAt(at)
      case '[':
      case '![':
        brackets.push({ place: pieces.length, from: at + what.length, isImage: what === '![' })
        return undefined
      default:
        return nakedAddress(text, at)
    }
  }

  for (let at = 0; at < text.length; ) {
    special.lastIndex = at
    const next = special.exec(text)
    const start = next?.index ?? text.length
    if (start > at) pieces.push({ type: 'text', text: text.slice(at, start) })
    if (next === null) break
    const [what] = next
    const { piece, end } = pieceAt(what, start) ?? { piece: { type: 'text', text: what }, end: start + what.length }
    pieces.push(piece)
    at = end
  }
  return emphasised(pieces)
}
