import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Studio } from '../state/studio.ts'
import { heed, useAsides } from './asides.ts'
import { Comparison } from './comparison.tsx'

/** Any two runs, compared. */
export function DiffPage({ studio }: { studio: Studio }): JSX.Element | null {
  const address = studio.address.value
  const ids = address.page === 'diff' ? [address.runA, address.runB] : []
  const [a, b = a] = useAsides(studio, [...new Set(ids)])
  if (a === undefined || b === undefined) return null
  heed(a, b)
  const trouble = a.error.value || b.error.value
  const isRead = [a, b].every(({ run, events }) => run.value !== undefined && events.seq > 0)
  return (
    <div class="two">
      <h2>Two runs</h2>
      <p class="bar">
        <RunLink studio={studio} name="A" opened={a} />
        <RunLink studio={studio} name="B" opened={b} />
      </p>
      <Choice key={ids.join()} studio={studio} runA={ids[0]} runB={ids[1]} />
      {trouble ? (
        <p role="alert">{trouble}</p>
      ) : isRead ? (
        <Comparison studio={studio} a={a} b={b} />
      ) : (
        <p class="about appears">Reading…</p>
      )}
    </div>
  )
}

/** Two other runs, by their ids. */
function Choice({
  studio,
  runA = '',
  runB = '',
}: {
  studio: Studio
  runA: string | undefined
  runB: string | undefined
}): JSX.Element {
  const ids = useRef<Record<string, string>>({ A: runA, B: runB })
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault()
        const { A = '', B = '' } = ids.current
        studio.go({ page: 'diff', runA: A.trim() || runA, runB: B.trim() || runB })
      }}
    >
      {['A', 'B'].map((side) => (
        <label key={side}>
          {side}{' '}
          <input
            defaultValue={ids.current[side]}
            maxLength={200}
            onInput={({ currentTarget }) => {
              ids.current[side] = currentTarget.value
            }}
          />
        </label>
      ))}
      <button type="submit">Compare</button>
      <button type="button" onClick={() => studio.go({ page: 'diff', runA: runB, runB: runA })}>
        Swap
      </button>
    </form>
  )
}

function RunLink({ studio, name, opened }: { studio: Studio; name: string; opened: OpenedRun }): JSX.Element {
  const { runId, run } = opened
  const said = run.value?.messages.find(({ role }) => role === 'user')?.content.slice(0, 80)
  return (
    <span>
      <strong>{name}</strong>{' '}
      <a href={studio.urlOf({ page: 'run', runId })} title={runId}>
        {run.value?.entity_id ?? 'run'} …{runId.slice(-6)}
      </a>{' '}
      <span class="more" dir="auto">
        {said}
      </span>
    </span>
  )
}
