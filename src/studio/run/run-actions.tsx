import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { isEnded } from '../state/conversation.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import { useAttempt } from '../state/reading/attempt.ts'
import type { Studio } from '../state/studio.ts'
import { repeatable } from './words.ts'

interface RunActionsProps {
  studio: Studio
  opened: OpenedRun
}

/** What can be done with a turn besides looking at it: comparing it with the one before, and going on after it in a new session. */
export function RunActions({ studio, opened }: RunActionsProps): JSX.Element | null {
  const { problem, attempt } = useAttempt()
  const { runId } = opened
  const run = opened.run.value
  const turns = studio.chats.conversation.value?.turns.value ?? []
  const place = turns.findIndex((turn) => turn.run.run_id === runId)
  const before = turns[place - 1]?.run.run_id
  const diff = before === undefined ? undefined : ({ page: 'diff', runA: before, runB: runId } as const)
  const address = studio.address.value
  const isOver = isEnded(run)
  const mayFork = isOver && place >= 0 && studio.may('run')
  const seq = address.page === 'chats' && address.inside === undefined ? address.seq : undefined
  const isStep = opened.events.steps.some((step) => step.seq === seq && repeatable.includes(step.kind))
  const again =
    isOver && studio.can('again')
      ? ({ page: 'again', runId, tries: [], from: isStep ? seq : undefined } as const)
      : undefined
  const mayWatch = isOver && studio.canWatch
  const watch = () => studio.watch(runId)
  const same = (from?: number) =>
    attempt(async () => {
      const { runs } = await studio.client.runs.again(runId, { from })
      studio.go({ page: 'again', runId, from, tries: runs.map(({ run_id }) => run_id) })
    })
  const fork = () =>
    attempt(async () => {
      const { session_id: sessionId } = await studio.client.sessions.fork(run?.session_id ?? '', { run_id: runId })
      studio.go({ page: 'chats', sessionId, filter: {} })
    })
  useEffect(() =>
    studio.keys.on({
      ...(diff !== undefined && { diff: () => studio.go(diff) }),
      ...(again !== undefined && { again: () => studio.go(again), 'same-again': () => same(again.from) }),
      ...(mayFork && { fork }),
      ...(mayWatch && { watch }),
    }),
  )
  if (run === undefined || run.parent_run_id !== null) return null
  return (
    <>
      {again && (
        <a href={studio.urlOf(again)} title="Change it and run it again (e)">
          Again
        </a>
      )}
      {mayWatch && (
        <button type="button" class="quiet" title="Ask it again at each save of a file (w)" onClick={watch}>
          {studio.pins.ids.value.includes(runId) ? 'Watched' : 'Watch'}
        </button>
      )}
      {mayFork && (
        <button type="button" class="quiet" title="A new session up to here (f)" onClick={fork}>
          Fork
        </button>
      )}
      {diff && (
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
