import { Box, Static, Text, useApp, useStdout, useWindowSize } from 'ink'
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { describeError } from '../command/exit.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { formatDuration } from '../terminal/duration.ts'
import type { Paint } from '../terminal/paint.ts'
import { commandIn, runCommand } from './commands.ts'
import type { Conversation } from './conversation.ts'
import { Input } from './input.tsx'
import { Said } from './said.tsx'
import type { Screen } from './screen.ts'
import { useLine } from './use-line.ts'

export interface ChatProps {
  conversation: Conversation
  paint: Paint
  /** Cancels the answer and leaves the chat. */
  signal: AbortSignal
  onInterrupt?: () => void
}

const clearScreen = '\x1b[2J\x1b[3J\x1b[H'

export function Chat({ conversation, paint, signal, onInterrupt }: ChatProps): ReactNode {
  const { exit } = useApp()
  const { write } = useStdout()
  const { columns, rows } = useWindowSize()
  const screen = useSyncExternalStore(conversation.screen.subscribe, conversation.screen.get)
  const [working, setWorking] = useState(false)
  const leave = () => {
    conversation.leave()
    exit()
  }

  useEffect(() => {
    const stop = () => {
      conversation.leave()
      exit()
    }
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    return () => signal.removeEventListener('abort', stop)
  }, [signal, exit, conversation])
  useEffect(() => conversation.screen.forget(screen.entries), [conversation, screen.entries])

  const run = async (work: Promise<void>) => {
    setWorking(true)
    try {
      await work
    } catch (error) {
      conversation.screen.say('error', describeError(error))
    }
    setWorking(false)
  }
  const line = useLine({
    typed: conversation.typed,
    submit(text) {
      if (conversation.busy || working) return false
      conversation.typed.push(text)
      const command = screen.question === undefined ? commandIn(text) : undefined
      if (command === 'clear') write(clearScreen)
      else if (command === undefined) void conversation.send(text)
      else void run(runCommand(conversation, text))
      return true
    },
    cancel(cleared) {
      if (cleared !== '') conversation.typed.push(cleared)
      // A cleared answer to a waiting run does not cancel the run: the user may type another one.
      if (cleared !== '' && !conversation.busy) return
      if (conversation.cancel() || cleared !== '') return
      onInterrupt?.()
      leave()
    },
    leave() {
      if (!conversation.busy) leave()
    },
  })

  const inputRows = Math.max(2, Math.min(8, Math.floor(rows / 3)))
  const openRows = Math.max(1, rows - inputRows - Math.min(3, screen.working.length) - 4)
  return (
    <Box flexDirection="column">
      <Static items={[...screen.entries]}>
        {(entry) => <Said key={entry.id} entry={entry} columns={columns} paint={paint} />}
      </Static>
      {screen.open !== '' && (
        <Box
          flexDirection="column"
          justifyContent="flex-end"
          maxHeight={openRows}
          overflow="hidden"
          marginTop={screen.openJoined ? 0 : 1}
        >
          <Markdown text={screen.open} columns={columns} paint={paint} />
        </Box>
      )}
      {screen.working.slice(-3).map((text, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a list that is drawn again as a whole.
        <Text key={place} wrap="truncate">
          {paint.dim(`  … ${text}`)}
        </Text>
      ))}
      <Box marginTop={1} flexDirection="column" flexShrink={0}>
        <Input line={line} prompt={paint.cyan(`${screen.question ?? ''}> `)} columns={columns} rows={inputRows} />
        <Status screen={screen} working={working} paint={paint} />
      </Box>
    </Box>
  )
}

function Status({ screen, working, paint }: { screen: Screen; working: boolean; paint: Paint }): ReactNode {
  const { busySince, connectionLost, tokens, question } = screen
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (busySince === undefined) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [busySince])
  const parts = []
  if (connectionLost) parts.push('Connection lost, retrying')
  if (busySince !== undefined) {
    parts.push(formatDuration(Math.floor(Math.max(0, now - busySince) / 1000) * 1000).replace('.0', ''))
    if (tokens > 0) parts.push(`${tokens} tokens`)
    parts.push('Ctrl-C cancels')
  } else if (working) parts.push('Running', 'Ctrl-C quits')
  else if (question !== undefined) parts.push('The run needs your answer', 'Ctrl-C cancels it')
  else parts.push('Enter sends', '/help', 'Ctrl-C quits')
  return <Text wrap="truncate">{paint.dim(parts.join(' · '))}</Text>
}
