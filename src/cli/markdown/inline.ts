import type { Inline } from '../../core/markdown/markdown.ts'
import type { Paint } from '../terminal/paint.ts'

/** A line's text with its styles. A link shows its text, and its URL unless the text is the URL. */
export function formatInline(pieces: readonly Inline[], paint: Paint): string {
  return pieces.map((piece) => formatPiece(piece, paint)).join('')
}

function formatPiece(piece: Inline, paint: Paint): string {
  switch (piece.type) {
    case 'strong':
      return paint.bold(formatInline(piece.content, paint))
    case 'em':
      return paint.italic(formatInline(piece.content, paint))
    case 'del':
      return paint.strikethrough(formatInline(piece.content, paint))
    case 'code':
      return paint.coloured ? paint.yellow(piece.text) : `\`${piece.text}\``
    case 'break':
      return '\n'
    case 'link': {
      const { href, content } = piece
      const text = formatInline(content, paint)
      const [first] = content
      const says = content.length === 1 && first?.type === 'text' && isAddress(first.text, href)
      return says ? paint.underline(text) : `${paint.underline(text)} (${href})`
    }
    case 'image':
      return `[${piece.text}] (${piece.href})`
    default:
      return joinLines(piece.text)
  }
}

function isAddress(text: string, href: string): boolean {
  return text === href || href === `mailto:${text}` || href === `http://${text}`
}

const lineEnd = /[ \t]*\n[ \t]*/g
/** Where a source is named, as `[1] docs/a.md:12`, its line is one of its own. */
const citation = /^\[\d+\] /
/** Written without spaces between words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u

/** A line end in a paragraph means a space, because the terminal has a width of its own. */
function joinLines(text: string): string {
  return text.replace(lineEnd, (end, at: number) => {
    const after = text.slice(at + end.length, at + end.length + 12)
    if (citation.test(after)) return '\n'
    return unspaced.test(text.charAt(at - 1)) && unspaced.test(after.charAt(0)) ? '' : ' '
  })
}
