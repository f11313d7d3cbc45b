import type { Token } from 'marked'
import type { Paint } from '../terminal/paint.ts'

const deepest = 8
const entities: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
}

/** A line's text with its styles. A link shows its text, and its URL unless the text is the URL. */
export function formatInline(tokens: readonly Token[], paint: Paint, depth = 0): string {
  return tokens.map((token) => formatToken(token, paint, depth)).join('')
}

function formatToken(token: Token, paint: Paint, depth: number): string {
  const inner = () =>
    'tokens' in token && token.tokens !== undefined && depth < deepest
      ? formatInline(token.tokens, paint, depth + 1)
      : decode('text' in token ? token.text : token.raw)
  switch (token.type) {
    case 'strong':
      return paint.bold(inner())
    case 'em':
      return paint.italic(inner())
    case 'del':
      return paint.strikethrough(inner())
    case 'codespan':
      return paint.coloured ? paint.yellow(token.text) : token.raw
    case 'br':
      return '\n'
    case 'link': {
      const text = inner()
      const says = token.href === token.text || token.href === `mailto:${token.text}`
      return says ? paint.underline(text) : `${paint.underline(text)} (${token.href})`
    }
    case 'image':
      return `[${decode(token.text)}] (${token.href})`
    case 'text':
      return inner()
    case 'escape':
      return token.text
    default:
      return token.raw
  }
}

function decode(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => entities[entity] ?? entity)
}
