import type { JSX } from 'preact'
import { formatCount, formatMs } from '../../core/text/format.ts'
import type { Replayed } from '../state/replayed.ts'

const speeds = [1, 2, 4]

/** How fast a run is played, and the way to any moment of it. */
export function ReplayBar({ replay, onEnd }: { replay: Replayed; onEnd: () => void }): JSX.Element {
  const { speed, moment, count, length } = replay
  const at = `${formatMs(moment.ms.value)} of ${formatMs(moment.spanMs)}`
  const event = `event ${formatCount(count.value)} of ${formatCount(length)}`
  return (
    <>
      <select
        aria-label="Speed"
        value={speed.value}
        onChange={({ currentTarget }) => {
          speed.value = Number(currentTarget.value)
        }}
      >
        {speeds.map((one) => (
          <option key={one} value={one}>
            {one}×
          </option>
        ))}
      </select>
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={`${at}, ${event}`}
        min="0"
        max={moment.spanMs}
        step="any"
        value={moment.ms.value}
        onInput={({ currentTarget }) => {
          replay.pause()
          replay.goTo(Number(currentTarget.value))
        }}
      />
      <span class="more">
        {at} · {event}
      </span>
      <button type="button" class="quiet" onClick={onEnd}>
        End the replay
      </button>
    </>
  )
}
