import { Box, Text } from 'ink'
import type { ReactNode } from 'react'
import { Markdown } from '../markdown/markdown.tsx'
import type { Paint } from '../terminal/paint.ts'
import type { Screen } from './screen-state.ts'

interface LiveProps {
  screen: Screen
  columns: number
  /** For the text that is under way. */
  rows: number
  paint: Paint
}

const shownLines = 3

/** What still changes: the end of the answer, the reasoning, the tools under way, and what waits to be sent. */
export function Live({ screen, columns, rows, paint }: LiveProps): ReactNode {
  const { open, openJoined, thinking, activity, queued } = screen
  const more = queued.length - shownLines
  return (
    <>
      {open !== '' && (
        <Box
          flexDirection="column"
          justifyContent="flex-end"
          maxHeight={rows}
          overflow="hidden"
          marginTop={openJoined ? 0 : 1}
        >
          <Markdown text={open} columns={columns} paint={paint} />
        </Box>
      )}
      {thinking !== undefined && (
        <Box marginTop={1} flexShrink={0}>
          <Box flexShrink={0}>
            <Text>{paint.dim('Thinking… ')}</Text>
          </Box>
          <Text wrap="truncate-start">{paint.dim(thinking)}</Text>
        </Box>
      )}
      <Lines lines={activity.slice(-shownLines).map((text) => `  … ${text}`)} paint={paint} />
      {queued.length > 0 && (
        <Box flexDirection="column" marginTop={1} flexShrink={0}>
          <Lines
            lines={[
              ...queued.slice(0, shownLines).map((text) => `  queued: ${text.replaceAll('\n', ' ')}`),
              ...(more > 0 ? [`  and ${more} more`] : []),
            ]}
            paint={paint}
          />
        </Box>
      )}
    </>
  )
}

function Lines({ lines, paint }: { lines: readonly string[]; paint: Paint }): ReactNode {
  return lines.map((text, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines of a list that is drawn again as a whole.
    <Text key={place} wrap="truncate">
      {paint.dim(text)}
    </Text>
  ))
}
