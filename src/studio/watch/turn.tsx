import type { JSX } from 'preact'
import { heed } from '../again/asides.ts'
import { textOf } from '../again/compare.ts'
import { Facts, Tools } from '../again/comparison.tsx'
import { Part, TextDiff } from '../again/part.tsx'
import { questionOf, RunLink } from '../again/run-link.tsx'
import { Status } from '../parts/status.tsx'
import type { Studio } from '../state/studio.ts'
import type { Watched } from './watched.ts'

interface WatchedTurnProps {
  studio: Studio
  watched: Watched
  /** Else to what the save before made of it. */
  isToTurn: boolean
}

/** A pinned turn beside what the last save made of it. What completed stays until there is something newer. */
export function WatchedTurn({ studio, watched, isToTurn }: WatchedTurnProps): JSX.Element {
  const { turn, problem } = watched
  const now = watched.now.value
  const [last, before] = watched.good.value
  const a = isToTurn ? turn : before
  heed(a, last)
  const title = questionOf(turn) || turn.runId
  const run = now?.run.value
  const side = now ?? last
  return (
    <section class="watched" aria-label={title}>
      <h3 dir="auto">{title}</h3>
      <p class="bar">
        <RunLink studio={studio} opened={turn} />
        {run === undefined ? null : <Status status={run.status} />}
        {side === undefined ? null : (
          <a href={studio.urlOf({ page: 'again', runId: turn.runId, tries: [side.runId] })}>
            {run?.status === 'input_required' ? 'Answer it, side by side' : 'Side by side'}
          </a>
        )}
        <button type="button" class="quiet" onClick={() => studio.pins.remove(turn.runId)}>
          Unpin
        </button>
      </p>
      <p role="alert" class="wrong" dir="auto">
        {problem.value || run?.error?.message || turn.error.value}
      </p>
      {last === undefined ? null : a === undefined ? (
        <p class="about">Only one save so far.</p>
      ) : (
        <>
          {last === now ? null : <p class="about">Below is the last whole answer.</p>}
          <Part title="Answer">
            <TextDiff before={textOf(a)} after={textOf(last)} />
          </Part>
          <Facts a={a} b={last} />
          <Tools a={a} b={last} />
        </>
      )}
    </section>
  )
}
