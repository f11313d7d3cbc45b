import { effect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type BranchesOf, branchesOf } from '../state/branches.ts'
import type { Conversation, Turn } from '../state/conversation.ts'
import { useAttempt } from '../state/reading/attempt.ts'
import type { Studio } from '../state/studio.ts'

const none: BranchesOf = new Map()
const newest = 50

/** Read when the session may have turns that were replaced, and whenever one of them is. */
export function useBranches(studio: Studio, conversation: Conversation): BranchesOf {
  const [branches, setBranches] = useState(none)
  useEffect(() => {
    let known: ReadonlySet<string> | undefined
    return effect(() => {
      const { sessionId, turns, state, hasMore } = conversation
      if (state.value !== 'ready' || studio.isFile) return
      const runs = turns.value.map(({ run }) => run)
      const [before, now] = [known, new Set(runs.map(({ run_id }) => run_id))]
      known = now
      const head = studio.chats.sessions.rows.peek().find(({ session_id }) => session_id === sessionId)
      const isWanted =
        before === undefined
          ? hasMore.peek() || head === undefined || head.run_count > runs.length
          : [...before].some((id) => !now.has(id)) ||
            runs.some(({ run_id, again_of }) => again_of?.keep === 'replace' && !before.has(run_id))
      if (!isWanted) return
      studio.client.sessions.history(sessionId, { interactions: newest, replaced: true }).then(
        (history) => setBranches(branchesOf(history.runs)),
        () => {
          // The conversation is there without them.
        },
      )
    })
  }, [studio, conversation])
  return branches
}

/** The run whose turn is about to come, and had the focus in its place. */
let focused: string | undefined

interface BranchesProps {
  studio: Studio
  conversation: Conversation
  turn: Turn
  branches: readonly string[]
  onChosen: (runId: string) => void
}

/** ‹2/3›: which of the runs that had this place is the turn. Another one takes it with all that came after it then. */
export function Branches({ studio, conversation, turn, branches, onChosen }: BranchesProps): JSX.Element {
  const { problem, attempt } = useAttempt()
  const group = useRef<HTMLSpanElement>(null)
  const { run_id: runId } = turn.run
  const place = branches.indexOf(runId)
  useEffect(() => {
    if (focused !== runId) return
    focused = undefined
    group.current?.querySelector<HTMLElement>('button:enabled')?.focus()
  }, [runId])
  const choose = (other: string) =>
    attempt(async () => {
      focused = other
      try {
        await studio.client.runs.restore(other)
      } catch (error) {
        focused = undefined
        throw error
      }
      onChosen(other)
      conversation.read()
    })
  const step = (by: 1 | -1, name: string, sign: string) => {
    const other = branches[place + by]
    return (
      <button
        type="button"
        class="quiet"
        aria-label={name}
        disabled={other === undefined}
        onClick={() => other !== undefined && choose(other)}
      >
        {sign}
      </button>
    )
  }
  return (
    <span role="group" aria-label="Answers to this" ref={group}>
      {step(-1, 'The answer before', '‹')}
      {place + 1}/{branches.length}
      {step(1, 'The next answer', '›')}
      <span role="alert" class="wrong">
        {problem}
      </span>
    </span>
  )
}
