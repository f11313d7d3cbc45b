import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { type RunStatus, runStatuses } from '../../core/run.ts'
import { formatCount } from '../../core/text/format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { statusMarks } from '../parts/status.tsx'
import type { Filter } from '../state/address/address.ts'
import type { Studio } from '../state/studio.ts'

/** Undefined: whatever it is. */
export type Change = { [Field in keyof Filter]?: string | undefined }

interface NarrowProps {
  studio: Studio
  filter: Filter
  onNarrow: (change: Change) => void
}

const chips: readonly [status: RunStatus | undefined, words: string][] = [
  [undefined, 'All'],
  ['running', 'Running'],
  ['input_required', 'Waiting'],
  ['failed', 'Failed'],
]
const others = runStatuses.filter((status) => !chips.some(([chip]) => chip === status))

/** Which sessions are listed: of which agent, with which status. */
export function Narrow({ studio, filter, onNarrow }: NarrowProps): JSX.Element {
  const { agent, status } = filter
  const pick =
    (field: 'agent' | 'status') =>
    ({ currentTarget: { value } }: { currentTarget: HTMLSelectElement }) =>
      onNarrow({ [field]: value === '' ? undefined : value })
  return (
    <>
      <div class="bar">
        <button type="button" onClick={() => studio.go(studio.newChat)}>
          New chat
        </button>
        <label>
          <span class="hidden">Agent</span>
          <select value={agent ?? ''} onChange={pick('agent')}>
            <option value="">all agents</option>
            {studio.agents.value.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
            {agent === undefined || studio.agents.value.some(({ id }) => id === agent) ? null : (
              <option value={agent}>{agent}</option>
            )}
          </select>
        </label>
      </div>
      <fieldset class="chips">
        <legend class="hidden">Status of the last turn</legend>
        {chips.map(([chip, words]) => (
          <button
            key={words}
            type="button"
            aria-pressed={chip === status}
            onClick={() => onNarrow({ status: chip === status ? undefined : chip })}
          >
            {chip === undefined ? null : <Icon name={statusMarks[chip][0]} />} {words}
          </button>
        ))}
        <label>
          <span class="hidden">Another status</span>
          <select value={others.find((other) => other === status) ?? ''} onChange={pick('status')}>
            <option value="">other…</option>
            {others.map((other) => (
              <option key={other} value={other}>
                {other}
              </option>
            ))}
          </select>
        </label>
      </fieldset>
    </>
  )
}

/** How many there are, what waits above the list, and where it begins. */
export function Above({ studio, filter, onNarrow }: NarrowProps): JSX.Element {
  const { sessions } = studio.chats
  const [isAsking, setAsking] = useState(false)
  const total = sessions.total.value
  const newer = sessions.newer.value
  const { before } = filter
  return (
    <div class={before === undefined ? 'about bar one-line' : 'about bar'}>
      <span class="count">{total === undefined ? '' : countOf(total)}</span>
      <button type="button" class="quiet" onClick={() => setAsking(true)}>
        {before === undefined ? 'jump to date…' : `until ${before}`}
      </button>
      {before === undefined ? null : (
        <button type="button" onClick={() => onNarrow({ before: undefined })}>
          Back to the newest
        </button>
      )}
      {newer === 0 ? null : (
        <button type="button" class="newer" onClick={() => sessions.toNewest()}>
          ↑ {newer < 1000 ? newer : '1,000+'} newer
        </button>
      )}
      {isAsking ? (
        <Dialog title="Jump to date" onClose={() => setAsking(false)}>
          <form
            class="bar"
            method="dialog"
            onSubmit={({ currentTarget }) => onNarrow({ before: String(new FormData(currentTarget).get('day')) })}
          >
            <label>
              Until <input type="date" name="day" required value={before} max="9999-12-31" autofocus />
            </label>
            <button type="submit">Jump</button>
          </form>
        </Dialog>
      ) : null}
    </div>
  )
}

export function countOf(total: number): string {
  return `${formatCount(total)} ${total === 1 ? 'session' : 'sessions'}`
}

/** What was looked for, in words. */
export function inWords({ agent, status, before }: Filter): string {
  const words = status === undefined ? '' : (chips.find(([chip]) => chip === status)?.[1].toLowerCase() ?? status)
  return [
    'No',
    ...(words === '' ? [] : [words]),
    'session',
    ...(agent === undefined ? [] : [`of ${agent}`]),
    ...(before === undefined ? [] : [`until ${before}`]),
  ].join(' ')
}
