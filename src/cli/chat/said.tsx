import { Box, Text } from 'ink'
import type { ReactNode } from 'react'
import { Markdown } from '../markdown/markdown.tsx'
import { wrapColumns, wrapText } from '../markdown/wrapping.ts'
import type { Paint } from '../terminal/paint.ts'
import type { Entry } from './screen-state.ts'

export interface SaidProps {
  entry: Omit<Entry, 'id'>
  columns: number
  paint: Paint
}

export function Said({ entry, columns, paint }: SaidProps): ReactNode {
  const { kind, joined } = entry
  const apart = kind === 'markdown' ? !joined : kind === 'user' || kind === 'name'
  // Without its own width the layout rounds the inner widths up, and the terminal cuts the line.
  return (
    <Box marginTop={apart ? 1 : 0} width={columns} flexDirection="column" flexShrink={0}>
      <Words entry={entry} columns={columns} paint={paint} />
    </Box>
  )
}

function Words({ entry: { kind, text }, columns, paint }: SaidProps): ReactNode {
  if (kind === 'markdown') return <Markdown text={text} columns={columns} paint={paint} />
  if (kind === 'note')
    return (
      <Box paddingLeft={2} flexShrink={0}>
        <Text>{paint.dim(wrapColumns(text, columns - 2))}</Text>
      </Box>
    )
  return <Text>{painted(kind, text, columns, paint)}</Text>
}

function painted(
  kind: Exclude<Entry['kind'], 'note' | 'markdown'>,
  text: string,
  columns: number,
  paint: Paint,
): string {
  if (kind === 'error') return paint.red(wrapText(text, columns))
  if (kind === 'name') return paint.bold(paint.green(wrapText(text, columns)))
  return paint.cyan(`> ${wrapText(text, columns - 2).replaceAll('\n', '\n  ')}`)
}
