import { Box, Text } from 'ink'
import { type ReactNode, useMemo } from 'react'
import stringWidth from 'string-width'
import { type Block, type List, readMarkdown } from '../../core/markdown/markdown.ts'
import type { Paint } from '../terminal/paint.ts'
import { highlight } from './code.ts'
import { formatInline } from './inline.ts'
import { formatMarkdownTable } from './table.ts'
import { wrapText } from './wrapping.ts'

export interface MarkdownProps {
  /** Must be safe for the terminal. */
  text: string
  columns: number
  paint: Paint
}

/** Markdown on a terminal, without empty lines before or after. */
export function Markdown({ text, columns, paint }: MarkdownProps): ReactNode {
  return useMemo(
    () => <Blocks blocks={readMarkdown(text)} columns={columns} paint={paint} depth={0} />,
    [text, columns, paint],
  )
}

interface BlocksProps {
  blocks: readonly Block[]
  columns: number
  paint: Paint
  depth: number
}

function Blocks({ blocks, columns, paint, depth }: BlocksProps): ReactNode {
  return (
    <Box flexDirection="column" width={Math.max(1, columns)} flexShrink={0} rowGap={depth === 0 ? 1 : 0}>
      {blocks.map((block, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: text only grows at its end, so a block keeps its place.
        <MarkdownBlock key={place} block={block} columns={columns} paint={paint} depth={depth} />
      ))}
    </Box>
  )
}

function MarkdownBlock({ block, ...look }: Omit<BlocksProps, 'blocks'> & { block: Block }): ReactNode {
  const { columns, paint, depth } = look
  switch (block.type) {
    case 'heading':
      return <Words text={paint.bold(paint.cyan(formatInline(block.content, paint)))} columns={columns} />
    case 'paragraph':
      return <Words text={formatInline(block.content, paint)} columns={columns} />
    case 'code':
      return (
        <Box paddingLeft={2} flexShrink={0}>
          <Words text={highlight(block.text, block.lang, paint) || ' '} columns={columns - 2} />
        </Box>
      )
    case 'list':
      return <Items list={block} {...look} />
    case 'quote':
      return (
        <Box borderStyle="single" borderTop={false} borderRight={false} borderBottom={false} paddingLeft={1}>
          <Blocks blocks={block.blocks} columns={columns - 2} paint={paint} depth={depth + 1} />
        </Box>
      )
    case 'table':
      return <Words text={formatMarkdownTable(block, columns, paint)} columns={columns} />
    case 'rule':
      return <Text>{paint.dim('─'.repeat(Math.max(1, Math.min(columns, 40))))}</Text>
    case 'source':
      return <Words text={block.text} columns={columns} />
  }
}

function Words({ text, columns }: { text: string; columns: number }): ReactNode {
  return <Text>{wrapText(text, columns)}</Text>
}

function Items({ list, columns, paint, depth }: Omit<BlocksProps, 'blocks'> & { list: List }): ReactNode {
  const { start, items } = list
  return (
    <Box flexDirection="column" flexShrink={0}>
      {items.map(({ done, blocks }, place) => {
        const bullet = start === undefined ? '• ' : `${start + place}. `
        const mark = done === undefined ? bullet : `${bullet}[${done ? 'x' : ' '}] `
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above.
          <Box key={place} flexShrink={0}>
            <Box flexShrink={0}>
              <Text>{mark}</Text>
            </Box>
            <Blocks blocks={blocks} columns={columns - stringWidth(mark)} paint={paint} depth={depth + 1} />
          </Box>
        )
      })}
    </Box>
  )
}
