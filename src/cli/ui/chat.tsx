import { Box, Static, Text, useApp, useInput } from 'ink'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { TurnEvent } from '../chat-turn.ts'
import { formatSource } from '../source-line.ts'
import { editLine, emptyLine } from './edit-line.ts'

export interface ChatProps {
  agentId: string
  /** Sends a message and gives the answer; aborting the signal cancels it. */
  send: (message: string, signal: AbortSignal) => AsyncIterable<TurnEvent>
  /** From outside: cancels the answer and leaves. */
  signal: AbortSignal
}

interface Entry {
  id: number
  role: 'user' | 'agent' | 'note'
  text: string
}

/** The conversation: what was said above, the answer as it comes, the line that is typed below. */
export function Chat({ agentId, send, signal }: ChatProps) {
  const { exit } = useApp()
  const [entries, setEntries] = useState<Entry[]>([])
  const [answer, setAnswer] = useState('')
  const [line, setLine] = useState(emptyLine)
  const running = useRef<AbortController>(undefined)
  const [busy, setBusy] = useState(false)

  const say = useCallback((role: Entry['role'], text: string) => {
    setEntries((earlier) => [...earlier, { id: earlier.length, role, text }])
  }, [])

  useEffect(() => {
    const leave = () => {
      running.current?.abort()
      exit()
    }
    signal.addEventListener('abort', leave, { once: true })
    return () => signal.removeEventListener('abort', leave)
  }, [signal, exit])

  async function ask(message: string): Promise<void> {
    const controller = new AbortController()
    running.current = controller
    setBusy(true)
    say('user', message)
    let text = ''
    const notes: string[] = []
    try {
      for await (const event of send(message, controller.signal)) {
        if (event.type === 'text') {
          text += event.text
          setAnswer(text)
        } else if (event.type !== 'end') notes.push(describe(event))
      }
    } catch (error) {
      notes.push(controller.signal.aborted ? 'Cancelled.' : error instanceof Error ? error.message : String(error))
    }
    if (text !== '') say('agent', text.trimEnd())
    for (const note of notes) say('note', note)
    setAnswer('')
    running.current = undefined
    setBusy(false)
  }

  useInput((input, key) => {
    if (key.ctrl && input === 'c') {
      if (running.current === undefined) exit()
      else running.current.abort()
    } else if (key.ctrl && input === 'd' && line.text === '' && !busy) exit()
    else if (key.return) {
      const message = line.text.trim()
      if (busy || message === '') return
      setLine(emptyLine)
      void ask(message)
    } else setLine((present) => editLine(present, input, key))
  })

  return (
    <Box flexDirection="column">
      <Static items={entries}>{(entry) => <Said key={entry.id} agentId={agentId} entry={entry} />}</Static>
      {busy && <Said agentId={agentId} entry={{ id: -1, role: 'agent', text: answer === '' ? '…' : answer }} />}
      <Box>
        <Text color="cyan">{'> '}</Text>
        <Text>{line.text.slice(0, line.cursor)}</Text>
        <Text inverse>{line.text.slice(line.cursor, line.cursor + 1) || ' '}</Text>
        <Text>{line.text.slice(line.cursor + 1)}</Text>
      </Box>
      <Text dimColor>{busy ? 'Ctrl-C cancels' : 'Enter sends, Ctrl-C leaves'}</Text>
    </Box>
  )
}

function Said({ agentId, entry }: { agentId: string; entry: Entry }) {
  if (entry.role === 'note') return <Text dimColor>{`  ${entry.text}`}</Text>
  const name = entry.role === 'user' ? 'you' : agentId
  return (
    <Box flexDirection="column" marginTop={1}>
      <Text bold color={entry.role === 'user' ? 'cyan' : 'green'}>
        {name}
      </Text>
      <Text>{entry.text}</Text>
    </Box>
  )
}

function describe(event: Exclude<TurnEvent, { type: 'text' | 'end' }>): string {
  if (event.type === 'source') return formatSource(event.source)
  if (event.type === 'tool') return `tool ${event.name}${event.error === undefined ? '' : `: ${event.error}`}`
  return event.type === 'error' ? event.message : `The run waits for an answer: ${event.prompt}`
}
