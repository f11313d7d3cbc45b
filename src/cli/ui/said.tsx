import { Box, Text } from 'ink'
import type { ReactNode } from 'react'
import type { Entry } from '../chat-screen.ts'
import type { Paint } from '../paint.ts'
import { Markdown } from './markdown.tsx'

export interface SaidProps {
  entry: Omit<Entry, 'id'>
  columns: number
  paint: Paint
}

/** Something that was said or has happened, as chat and the session browser show it. */
export function Said({ entry, columns, paint }: SaidProps): ReactNode {
  const { kind, text, joined } = entry
  if (kind === 'note') return <Text>{paint.dim(text.replace(/^/gm, '  '))}</Text>
  if (kind === 'error') return <Text>{paint.red(text)}</Text>
  if (kind === 'markdown') {
    return (
      <Box marginTop={joined ? 0 : 1} flexDirection="column">
        <Markdown text={text} columns={columns} paint={paint} />
      </Box>
    )
  }
  return (
    <Box marginTop={1}>
      <Text>{kind === 'user' ? paint.cyan(`> ${text.replaceAll('\n', '\n  ')}`) : paint.bold(paint.green(text))}</Text>
    </Box>
  )
}
