import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../state/message-of.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Studio } from '../state/studio.ts'

interface RunActionsProps {
  studio: Studio
  opened: OpenedRun
}

/** What can be done with a turn besides looking at it: comparing it with the one before, and going on after it in a new session. */
export function RunActions({ studio, opened }: RunActionsProps): JSX.Element | null {
  const [problem, setProblem] = useState('')
  const { runId } = opened
  const run = opened.run.value
  const turns = studio.chats.conversation.value?.turns.value ?? []
  const place = turns.findIndex((turn) => turn.run.run_id === runId)
  const before = turns[place - 1]?.run.run_id
  const diff = before === undefined ? undefined : ({ page: 'diff', runA: before, runB: runId } as const)
  const isOver = run !== undefined && run.completed_at !== null
  const mayFork = isOver && place >= 0 && studio.may('run')
  const fork = () => {
    setProblem('')
    studio.client.sessions.fork(run?.session_id ?? '', { run_id: runId }).then(
      ({ session_id: sessionId }) => studio.go({ page: 'chats', sessionId, filter: {} }),
      (error: unknown) => setProblem(messageOf(error)),
    )
  }
  useEffect(() =>
    studio.keys.on({
      ...(diff !== undefined && { diff: () => studio.go(diff) }),
      ...(mayFork && { fork }),
    }),
  )
  if (run === undefined || run.parent_run_id !== null) return null
  return (
    <>
      {mayFork ? (
        <button type="button" class="quiet" title="A new session up to here (f)" onClick={fork}>
          Fork
        </button>
      ) : null}
      {diff === undefined ? null : (
        <a href={studio.urlOf(diff)} title="Compare with the run before (d)">
          Diff
        </a>
      )}
      <span role="alert" class="wrong">
        {problem}
      </span>
    </>
  )
}
