import { Lexer, type Token, type Tokens } from 'marked'
import { type Block, type Inline, readMarkdown } from '../../../src/core/markdown/markdown.ts'

/** A tree as lines, one each block or piece: what two readers of Markdown are compared by. */
export type Tree = (string | Tree)[]

export function ours(text: string): Tree {
  return readMarkdown(text).map(blockTree)
}

/** The tree of the library, as ours is where it knows no more. */
export function theirs(text: string): Tree {
  return blockTokens(Lexer.lex(text))
}

function blockTree(block: Block): Tree {
  switch (block.type) {
    case 'heading':
      return [`h${block.level}`, ...inlineTree(block.content)]
    case 'paragraph':
      return ['p', ...inlineTree(block.content)]
    case 'code':
      return [`code ${block.lang}`, block.text]
    case 'quote':
      return ['quote', ...block.blocks.map(blockTree)]
    case 'list': {
      const { start, loose, items } = block
      const tree = items.map(({ done, blocks }) => [
        done === undefined ? 'item' : `task ${done}`,
        ...blocks.map(blockTree),
      ])
      return [`list ${start ?? ''} ${loose}`, ...tree]
    }
    case 'table':
      return [
        `table ${block.align.map((side) => side ?? '-').join(' ')}`,
        ...[block.head, ...block.rows].map((row) => row.map(inlineTree)),
      ]
    default:
      return [block.type]
  }
}

function inlineTree(pieces: readonly Inline[]): Tree {
  const tree: Tree = pieces.map((piece) => {
    switch (piece.type) {
      case 'text':
      case 'literal':
        return piece.text
      case 'code':
        return ['code', piece.text]
      case 'break':
        return ['br']
      case 'image':
        return ['image', piece.href, piece.text]
      case 'link':
        return ['link', piece.href, ...inlineTree(piece.content)]
      default:
        return [piece.type, ...inlineTree(piece.content)]
    }
  })
  return joined(tree)
}

function blockTokens(tokens: readonly Token[]): Tree {
  return tokens.flatMap((token): Tree => {
    switch (token.type) {
      case 'space':
      case 'checkbox':
        return []
      case 'heading':
        return [[`h${(token as Tokens.Heading).depth}`, ...inlineTokens(token.tokens)]]
      case 'paragraph':
      case 'text':
        return [['p', ...inlineTokens(token.tokens)]]
      case 'code':
        return [[`code ${(token as Tokens.Code).lang ?? ''}`, (token as Tokens.Code).text.replace(/\n$/, '')]]
      case 'blockquote':
        return [['quote', ...blockTokens(token.tokens ?? [])]]
      case 'list': {
        const { ordered, start, loose, items } = token as Tokens.List
        const tree = items.map(({ task, checked, tokens: inner }) => [
          task ? `task ${checked === true}` : 'item',
          ...blockTokens(inner),
        ])
        return [[`list ${ordered ? start : ''} ${loose}`, ...tree]]
      }
      case 'table': {
        const { align, header, rows } = token as Tokens.Table
        const cells = [header, ...rows].map((row) => row.map(({ tokens: inner }) => inlineTokens(inner)))
        return [[`table ${align.map((side) => side ?? '-').join(' ')}`, ...cells]]
      }
      case 'hr':
        return [['rule']]
      default:
        return [[token.type, token.raw]]
    }
  })
}

function inlineTokens(tokens: readonly Token[] = []): Tree {
  const tree = tokens.flatMap((token): Tree => {
    switch (token.type) {
      case 'checkbox':
        return []
      case 'strong':
      case 'em':
      case 'del':
        return [[token.type, ...inlineTokens(token.tokens)]]
      case 'codespan':
        return [['code', (token as Tokens.Codespan).text]]
      case 'br':
        return [['br']]
      case 'link':
        return [['link', decoded((token as Tokens.Link).href), ...inlineTokens(token.tokens)]]
      case 'image':
        return [['image', decoded((token as Tokens.Image).href), (token as Tokens.Image).text]]
      case 'text':
        return token.tokens === undefined ? [decoded((token as Tokens.Text).text)] : inlineTokens(token.tokens)
      case 'escape':
        return [(token as Tokens.Escape).text]
      default:
        return [token.raw]
    }
  })
  return joined(tree)
}

/** The library leaves entities to its renderer. */
function decoded(text: string): string {
  return text
    .replace(/&(?:lt|gt|quot|#39|nbsp|copy);/g, (entity) => {
      const characters: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: '\u00a0', copy: '©' }
      return characters[entity.slice(1, -1)] ?? entity
    })
    .replaceAll('&amp;', '&')
}

/** Texts beside each other as one, with the spaces around line breaks that nobody sees away. */
function joined(tree: Tree): Tree {
  const result: Tree = []
  for (const part of tree) {
    const before = result.at(-1)
    if (typeof part === 'string' && typeof before === 'string') result[result.length - 1] = before + part
    else result.push(part)
  }
  // The library keeps spaces at the start and the end of a block.
  if (typeof result[0] === 'string') result[0] = result[0].trimStart()
  const last = result.at(-1)
  if (typeof last === 'string') result[result.length - 1] = last.trimEnd()
  return result
    .map((part) => (typeof part === 'string' ? part.replace(/[ \t]*\n[ \t]*/g, '\n') : part))
    .filter((part) => part !== '')
}
