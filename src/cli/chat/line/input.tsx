import { Box, Text } from 'ink'
import type { ReactNode } from 'react'
import type { Line } from '../../terminal/edit-line.ts'

export interface InputProps {
  line: Line
  prompt: ReactNode
  /** Dots are shown in place of the text. */
  isSecret?: boolean
  columns: number
  /** Maximum lines shown, around the cursor. */
  rows: number
}

export function Input({ line, prompt, isSecret = false, columns, rows }: InputProps): ReactNode {
  const { before, at, after } = around(isSecret ? hidden(line) : line, columns * rows, rows)
  return (
    <Box maxHeight={rows} overflow="hidden" flexShrink={0}>
      <Box flexShrink={0}>
        <Text>{prompt}</Text>
      </Box>
      <Text>
        {before}
        <Text inverse>{at === '\n' || at === '' ? ' ' : at}</Text>
        {at === '\n' ? '\n' : ''}
        {after}
      </Text>
    </Box>
  )
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Cuts a long paste to what fits, starting at most `rows - 1` lines above the cursor. */
function around({ text, cursor }: Line, most: number, rows: number): { before: string; at: string; after: string } {
  const half = Math.floor(most / 2)
  let before = text.slice(Math.max(0, cursor - half), cursor)
  const lines = before.split('\n')
  if (lines.length > rows - 1) before = lines.slice(-(rows - 1)).join('\n')
  const rest = text.slice(cursor, cursor + half)
  const [first] = segmenter.segment(rest.slice(0, 64))
  const at = first?.segment ?? ''
  return { before, at, after: rest.slice(at.length) }
}

function hidden({ text, cursor }: Line): Line {
  return { text: '•'.repeat(text.length), cursor }
}
