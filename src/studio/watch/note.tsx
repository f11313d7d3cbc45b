import type { JSX } from 'preact'
import { formatCount } from '../../core/text/format.ts'
import { Icon } from '../parts/icon.tsx'
import type { Studio } from '../state/studio.ts'
import { watcherOf } from './watcher.ts'

/** In the bar at the top while turns are pinned, whatever is looked at. */
export function WatchNote({ studio }: { studio: Studio }): JSX.Element {
  const { turns, isHere, savedAt } = watcherOf(studio)
  const count = turns.value.length
  return (
    <a class="waits" href={studio.urlOf({ page: 'watch' })} title="Watch file saves (w)">
      <Icon name="run" /> {formatCount(count)}{' '}
      <span class="words">
        {isHere.value ? 'watched' : 'watched elsewhere'}
        {savedAt.value === undefined ? '' : `, ${savedAt.value.toLocaleTimeString()}`}
      </span>
    </a>
  )
}
