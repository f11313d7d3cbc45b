import { Box, Text } from 'ink'
import { type ReactNode, useSyncExternalStore } from 'react'
import type { Paint } from '../terminal/paint.ts'
import type { Welcome } from './welcome.ts'

export interface SampleListProps {
  welcome: Welcome
  /** The line in the input. */
  typed: string
  columns: number
  paint: Paint
}

/** The questions to choose from; typed text takes their place. */
export function SampleList({ welcome, typed, columns, paint }: SampleListProps): ReactNode {
  const { questions, reading } = useSyncExternalStore(welcome.subscribe, welcome.get)
  const place = welcome.placeFor(typed)
  if (reading !== undefined) return <Text wrap="truncate">{paint.dim(`  ${reading}`)}</Text>
  if (questions.length === 0 || place === -1) return null
  return (
    <Box flexDirection="column" marginTop={1} width={columns} flexShrink={0}>
      <Text>{paint.dim('Ask one of these with Enter (↑ ↓ or a number selects), or type a question:')}</Text>
      {questions.map((question, index) => (
        <Box key={question} flexShrink={0}>
          <Box flexShrink={0}>
            <Text>{index === place ? paint.cyan(`❯ ${index + 1}  `) : paint.dim(`  ${index + 1}  `)}</Text>
          </Box>
          <Text>{index === place ? paint.cyan(question) : question}</Text>
        </Box>
      ))}
    </Box>
  )
}
