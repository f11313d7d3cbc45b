import { Box, Static, Text, useApp, useStdout, useWindowSize } from 'ink'
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { describeError } from '../command/exit.ts'
import { Markdown } from '../markdown/markdown.tsx'
import type { Paint } from '../terminal/paint.ts'
import { SampleList } from '../welcome/samples.tsx'
import type { Welcome } from '../welcome/welcome.ts'
import { commandIn, runCommand } from './commands.ts'
import type { Conversation } from './conversation.ts'
import { DetailsPanel } from './details-panel.tsx'
import { Input } from './line/input.tsx'
import { useLine } from './line/use-line.ts'
import { Said } from './said.tsx'
import { Status } from './status.tsx'
import type { TurnDetails } from './turn/details.ts'

export interface ChatProps {
  conversation: Conversation
  welcome?: Welcome | undefined
  paint: Paint
  /** Cancels the answer and leaves the chat. */
  signal: AbortSignal
  onInterrupt?: () => void
}

const clearScreen = '\x1b[2J\x1b[3J\x1b[H'

export function Chat({ conversation, welcome, paint, signal, onInterrupt }: ChatProps): ReactNode {
  const { exit } = useApp()
  const { write } = useStdout()
  const { columns, rows } = useWindowSize()
  const screen = useSyncExternalStore(conversation.screen.subscribe, conversation.screen.get)
  const [working, setWorking] = useState(false)
  const [opened, setOpened] = useState<TurnDetails | null>(null)
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
  const openDetails = async () => {
    const details = await conversation.openDetails()
    if (details === null) conversation.note('There is nothing to open: no reasoning, no tools, no steps.')
    setOpened(details)
  }
  const line = useLine({
    typed: conversation.typed,
    choose: welcome && ((key, text) => welcome.choose(key, text)),
    standIn: welcome && ((text) => welcome.answerTo(text)),
    submit(text) {
      if (conversation.busy || working) return false
      welcome?.end()
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
    intercept(input, key) {
      const toggles = key.ctrl && input === 'o'
      if (opened === null) {
        if (toggles) void run(openDetails())
        return toggles
      }
      if (toggles || key.escape) setOpened(null)
      // Ctrl-C means the run or the chat here too; the panel takes all other keys.
      return !(key.ctrl && input === 'c')
    },
  })

  const inputRows = Math.max(2, Math.min(8, Math.floor(rows / 3)))
  const openRows = Math.max(1, rows - inputRows - Math.min(3, screen.working.length) - 4)
  return (
    <Box flexDirection="column">
      <Static items={[...screen.entries]}>
        {(entry) => <Said key={entry.id} entry={entry} columns={columns} paint={paint} />}
      </Static>
      {opened !== null && (
        <DetailsPanel details={opened} version={opened.version} columns={columns} rows={rows} paint={paint} />
      )}
      {opened === null && screen.open !== '' && (
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
      {opened === null && screen.thinking !== undefined && (
        <Box marginTop={1} flexShrink={0}>
          <Box flexShrink={0}>
            <Text>{paint.dim('Thinking… ')}</Text>
          </Box>
          <Text wrap="truncate-start">{paint.dim(screen.thinking)}</Text>
        </Box>
      )}
      {opened === null &&
        screen.working.slice(-3).map((text, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of a list that is drawn again as a whole.
          <Text key={place} wrap="truncate">
            {paint.dim(`  … ${text}`)}
          </Text>
        ))}
      {welcome && <SampleList welcome={welcome} typed={line.text} columns={columns} paint={paint} />}
      {opened === null && (
        <Box marginTop={1} flexDirection="column" flexShrink={0}>
          <Input line={line} prompt={paint.cyan(`${screen.question ?? ''}> `)} columns={columns} rows={inputRows} />
          <Status screen={screen} working={working} paint={paint} />
        </Box>
      )}
    </Box>
  )
}
