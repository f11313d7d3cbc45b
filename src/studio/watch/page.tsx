import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { formatCount } from '../../core/text/format.ts'
import { isEnded } from '../state/conversation.ts'
import { mostPins } from '../state/kept/pins.ts'
import { useAttempt } from '../state/reading/attempt.ts'
import type { Studio } from '../state/studio.ts'
import { WatchedTurn } from './turn.tsx'
import { watcherOf } from './watcher.ts'

/** What each save of a file changes in the answers of the pinned turns. */
export function WatchPage({ studio }: { studio: Studio }): JSX.Element {
  const [isToTurn, setToTurn] = useState(true)
  const { attempt } = useAttempt()
  if (!studio.canWatch) {
    return (
      <div class="middle">
        <h2>No file is watched here</h2>
        <p>
          <code>agentserve dev</code> does, for operators.
        </p>
      </div>
    )
  }
  const watcher = watcherOf(studio)
  const { turns, isHere, savedAt } = watcher
  const pinned = turns.value
  const done = pinned.filter(({ now }) => isEnded(now.value?.run.value))
  return (
    <div class="two">
      <h2>Watch file saves</h2>
      {pinned.length === 0 ? (
        <p>
          Nothing is pinned. Press <kbd>w</kbd> at a run: each time you save a file of the config, it is asked again,
          and what changed is shown here.
        </p>
      ) : (
        <>
          <p class="bar">
            <span role="status">
              {savedAt.value === undefined
                ? 'Save a file of the config.'
                : `Saved ${savedAt.value.toLocaleTimeString()}: ${done.length} of ${pinned.length} answered.`}
            </span>
            <span>{formatCount(watcher.calls)} model calls made</span>
            <button type="button" onClick={() => attempt(() => watcher.askAll())}>
              Ask all now
            </button>
            <label>
              Compare with{' '}
              <select onChange={({ currentTarget }) => setToTurn(currentTarget.selectedIndex === 0)}>
                <option>the turn</option>
                <option selected={!isToTurn}>the save before</option>
              </select>
            </label>
          </p>
          {isHere.value ? null : (
            <p class="bar" role="status">
              Another window of this browser watches.
              <button type="button" onClick={() => watcher.hold({ steal: true })}>
                Watch here
              </button>
            </p>
          )}
          <p class="about">Tools and steps are answered from the record, others ask. No session changes.</p>
        </>
      )}
      {studio.pins.isFull.value ? <p role="alert">At most {mostPins} turns are watched: unpin one first.</p> : null}
      {pinned.map((watched) => (
        <WatchedTurn key={watched.turn.runId} studio={studio} watched={watched} isToTurn={isToTurn} />
      ))}
    </div>
  )
}
