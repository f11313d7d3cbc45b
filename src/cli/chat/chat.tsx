import { Box, Static, useApp, useStdout, useWindowSize } from 'ink'
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { describeError } from '../command/exit.ts'
import type { Paint } from '../terminal/paint.ts'
import { SampleList } from '../welcome/samples.tsx'
import type { Welcome } from '../welcome/welcome.ts'
import { completerOf } from './commands.ts'
import type { Conversation } from './conversation.ts'
import { DetailsPanel } from './details-panel.tsx'
import { Inbox } from './inbox.ts'
import { Input } from './line/input.tsx'
import { useLine } from './line/use-line.ts'
import { Live } from './live.tsx'
import { Said } from './said.tsx'
import type { OpenQuestion } from './screen-state.ts'
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
  const [inbox] = useState(() => new Inbox(conversation))
  const [completer] = useState(() => completerOf(conversation))
  const [isLeaving, setLeaving] = useState(false)
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
  useEffect(() => {
    conversation.onClear = () => write(clearScreen)
  }, [conversation, write])
  useEffect(() => conversation.screen.forget(screen.entries), [conversation, screen.entries])

  const openDetails = async () => {
    try {
      const details = await conversation.openDetails()
      if (details === null) conversation.note('There is nothing to open: no reasoning, no tools, no steps.')
      setOpened(details)
    } catch (error) {
      conversation.screen.say('error', describeError(error))
    }
  }
  const { question } = screen
  const line = useLine({
    typed: conversation.history.entries,
    completer,
    asked: question !== undefined,
    choose: welcome && ((key, text) => welcome.choose(key, text)),
    standIn: welcome && ((text) => welcome.answerTo(text)),
    submit(text) {
      const isTaken = inbox.submit(text)
      if (isTaken) welcome?.end()
      return isTaken
    },
    takeBack: () => inbox.takeLast(),
    cancel(cleared) {
      if (cleared !== '' && question?.isSecret !== true) conversation.history.add(cleared)
      // A cleared answer to a waiting run does not cancel the run: the user may type another one.
      if (cleared !== '' && !conversation.busy) return
      inbox.empty()
      if (conversation.cancel() || cleared !== '') return
      onInterrupt?.()
      leave()
    },
    escape() {
      if (conversation.busy) conversation.cancel()
      else if (question !== undefined) conversation.back()
    },
    leave() {
      if (inbox.isBusy) setLeaving(true)
      else leave()
    },
    intercept(input, key) {
      const toggles = key.ctrl && input === 'o'
      if (opened === null) {
        if (toggles) void openDetails()
        return toggles
      }
      if (toggles || key.escape) setOpened(null)
      // Ctrl-C means the run or the chat here too; the panel takes all other keys.
      return !(key.ctrl && input === 'c')
    },
  })

  useEffect(() => {
    if (!isLeaving) return
    if (screen.question !== undefined || screen.held) setLeaving(false)
    else if (!inbox.isBusy && screen.queued.length === 0) leave()
  })

  const inputRows = Math.max(2, Math.min(8, Math.floor(rows / 3)))
  const otherRows = Math.min(3, screen.activity.length) + Math.min(5, screen.queued.length) + 5
  return (
    <Box flexDirection="column">
      <Static items={[...screen.entries]}>
        {(entry) => <Said key={entry.id} entry={entry} columns={columns} paint={paint} />}
      </Static>
      {opened !== null ? (
        <DetailsPanel details={opened} version={opened.version} columns={columns} rows={rows} paint={paint} />
      ) : (
        <>
          <Live screen={screen} columns={columns} rows={Math.max(1, rows - inputRows - otherRows)} paint={paint} />
          {welcome && <SampleList welcome={welcome} typed={line.text} columns={columns} paint={paint} />}
          <Box marginTop={1} flexDirection="column" flexShrink={0}>
            <Input
              line={line}
              isSecret={question?.isSecret === true}
              prompt={paint.cyan(promptOf(line.search, question))}
              columns={columns}
              rows={inputRows}
            />
            <Status screen={screen} words={line.words} isLeaving={isLeaving} paint={paint} />
          </Box>
        </>
      )}
    </Box>
  )
}

function promptOf(search: string | undefined, question: OpenQuestion | undefined): string {
  return search === undefined ? `${question?.prompt ?? ''}> ` : `(search: ${search.slice(-40)})> `
}
