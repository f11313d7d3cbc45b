import { Text } from 'ink'
import { type ReactNode, useEffect, useState } from 'react'
import { formatDuration } from '../terminal/duration.ts'
import type { Paint } from '../terminal/paint.ts'
import type { Screen } from './screen-state.ts'

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const frameMs = 120

export interface StatusProps {
  screen: Screen
  /** What Tab can make of a word. */
  words: readonly string[]
  /** As soon as the run has ended. */
  isLeaving: boolean
  paint: Paint
}

/** What the chat does now and which keys matter. It moves as long as the run is active, so that a slow one does not look dead. */
export function Status({ screen, words, isLeaving, paint }: StatusProps): ReactNode {
  const { busySince, connectionLost, tokens, streamedChars, question, working, held, queued } = screen
  const now = useClock(busySince)
  if (words.length > 0) return <Text wrap="truncate">{paint.dim(words.join('  '))}</Text>
  const parts = []
  if (connectionLost) parts.push('Connection lost, retrying')
  if (busySince !== undefined) {
    const took = Math.max(0, now - busySince)
    parts.push(`${frames[Math.floor(took / frameMs) % frames.length]} ${inSeconds(took)}`)
    const guessed = Math.ceil(streamedChars / charsPerToken)
    if (guessed > 0) parts.push(`≈ ${tokens + guessed} tokens`)
    else if (tokens > 0) parts.push(`${tokens} tokens`)
    if (isLeaving) parts.push('quits when it has ended')
    parts.push('Ctrl-C cancels')
  } else if (working) parts.push('Running', 'Ctrl-C quits')
  else if (question?.startsRun) parts.push('The form starts the run', 'Esc goes back', 'Ctrl-C closes it')
  else if (question !== undefined) parts.push('The run needs your answer', 'Ctrl-C cancels it')
  else if (held) parts.push(`Enter sends what is queued (${queued.length})`, 'Ctrl-C takes it out')
  else parts.push(screen.startsForm ? 'Enter opens the form' : 'Enter sends', '/help', 'Ctrl-C quits')
  return <Text wrap="truncate">{paint.dim(parts.join(' · '))}</Text>
}

/** A model tells its tokens at the end of a call; until then they are estimated. */
const charsPerToken = 4

function inSeconds(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1000)
}

function useClock(since: number | undefined): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (since === undefined) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), frameMs)
    return () => clearInterval(timer)
  }, [since])
  return now
}
