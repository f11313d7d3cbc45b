import { Box, Text } from 'ink'
import { lexer, type Token, type Tokens } from 'marked'
import { type ReactNode, useMemo } from 'react'
import stringWidth from 'string-width'
import type { Paint } from '../terminal/paint.ts'
import { highlight } from './code.ts'
import { formatInline } from './inline.ts'
import { wrapJoined } from './joined.ts'
import { formatMarkdownTable } from './table.ts'

/** Deeper lists and quotes are shown as source. */
const deepest = 6

export interface MarkdownProps {
  /** Must be safe for the terminal. */
  text: string
  columns: number
  paint: Paint
}

/** Markdown on a terminal, without empty lines before or after. */
export function Markdown({ text, columns, paint }: MarkdownProps): ReactNode {
  return useMemo(
    () => <Blocks tokens={readMarkdown(text)} columns={columns} paint={paint} depth={0} />,
    [text, columns, paint],
  )
}

function readMarkdown(text: string): Token[] {
  try {
    return lexer(text.trimEnd())
  } catch {
    // Thousands of nested brackets or quotes overflow the stack.
    return [{ type: 'html', raw: text, text } as Tokens.HTML]
  }
}

interface BlocksProps {
  tokens: readonly Token[]
  columns: number
  paint: Paint
  depth: number
}

function Blocks({ tokens, columns, paint, depth }: BlocksProps): ReactNode {
  const shown = tokens.filter(({ type }) => type !== 'space')
  return (
    <Box flexDirection="column" width={Math.max(1, columns)} flexShrink={0} rowGap={depth === 0 ? 1 : 0}>
      {shown.map((token, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: text only grows at its end, so a block keeps its place.
        <MarkdownBlock key={place} token={token as MarkedToken} columns={columns} paint={paint} depth={depth} />
      ))}
    </Box>
  )
}

type MarkedToken =
  | Tokens.Heading
  | Tokens.Code
  | Tokens.List
  | Tokens.Blockquote
  | Tokens.Table
  | Tokens.Hr
  | Tokens.Paragraph
  | Tokens.Text
  | Tokens.HTML

function MarkdownBlock({ token, ...look }: Omit<BlocksProps, 'tokens'> & { token: MarkedToken }): ReactNode {
  const { columns, paint, depth } = look
  if (depth > deepest) return <Words text={token.raw.trimEnd()} columns={columns} />
  switch (token.type) {
    case 'heading':
      return <Words text={paint.bold(paint.cyan(formatInline(token.tokens, paint)))} columns={columns} />
    case 'code':
      return (
        <Box paddingLeft={2} flexShrink={0}>
          <Words text={highlight(token.text, token.lang ?? '', paint) || ' '} columns={columns - 2} />
        </Box>
      )
    case 'list':
      return <List list={token} {...look} />
    case 'blockquote':
      return (
        <Box borderStyle="single" borderTop={false} borderRight={false} borderBottom={false} paddingLeft={1}>
          <Blocks tokens={token.tokens} columns={columns - 2} paint={paint} depth={depth + 1} />
        </Box>
      )
    case 'table':
      return <Words text={formatMarkdownTable(token, columns, paint)} columns={columns} />
    case 'hr':
      return <Text>{paint.dim('─'.repeat(Math.max(1, Math.min(columns, 40))))}</Text>
    case 'paragraph':
    case 'text':
      return (
        <Words text={token.tokens === undefined ? token.text : formatInline(token.tokens, paint)} columns={columns} />
      )
    default:
      return <Words text={token.raw.trimEnd()} columns={columns} />
  }
}

function Words({ text, columns }: { text: string; columns: number }): ReactNode {
  return <Text>{wrapJoined(text, columns)}</Text>
}

function List({ list, columns, paint, depth }: Omit<BlocksProps, 'tokens'> & { list: Tokens.List }): ReactNode {
  const first = typeof list.start === 'number' ? list.start : 1
  return (
    <Box flexDirection="column" flexShrink={0}>
      {list.items.map((item, place) => {
        const bullet = list.ordered ? `${first + place}. ` : '• '
        const mark = item.task ? `${bullet}[${item.checked ? 'x' : ' '}] ` : bullet
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above.
          <Box key={place} flexShrink={0}>
            <Box flexShrink={0}>
              <Text>{mark}</Text>
            </Box>
            <Blocks
              tokens={item.tokens.filter(({ type }) => type !== 'checkbox')}
              columns={columns - stringWidth(mark)}
              paint={paint}
              depth={depth + 1}
            />
          </Box>
        )
      })}
    </Box>
  )
}
