import type { JSX } from 'preact'
import type { Studio } from '../state/studio.ts'
import { heed, useAsides } from './asides.ts'
import { Comparison } from './comparison.tsx'
import { questionOf, RunLink } from './run-link.tsx'

/** Any two runs, compared. */
export function DiffPage({ studio }: { studio: Studio }): JSX.Element | null {
  const address = studio.address.value
  const { runA, runB } = address.page === 'diff' ? address : { runA: '', runB: '' }
  const [a, b = a] = useAsides(studio, runA === '' ? [] : [...new Set([runA, runB])])
  if (a === undefined || b === undefined) return null
  heed(a, b)
  const trouble = a.error.value || b.error.value
  const sides = [['A', a] as const, ['B', b] as const]
  return (
    <div class="two">
      <h2>Two runs</h2>
      <p class="bar">
        {sides.map(([name, opened]) => (
          <span key={name}>
            <strong>{name}</strong> <RunLink studio={studio} opened={opened} />{' '}
            <span class="more" dir="auto">
              {questionOf(opened)}
            </span>
          </span>
        ))}
      </p>
      <form
        key={`${runA} ${runB}`}
        class="bar"
        onSubmit={(event) => {
          event.preventDefault()
          const { A, B } = Object.fromEntries(new FormData(event.currentTarget))
          studio.go({ page: 'diff', runA: String(A).trim() || runA, runB: String(B).trim() || runB })
        }}
      >
        {sides.map(([name, { runId }]) => (
          <label key={name}>
            {name} <input name={name} defaultValue={runId} maxLength={200} />
          </label>
        ))}
        <button type="submit">Compare</button>
        <button type="button" onClick={() => studio.go({ page: 'diff', runA: runB, runB: runA })}>
          Swap
        </button>
      </form>
      {trouble ? (
        <p role="alert">{trouble}</p>
      ) : a.events.seq > 0 && b.events.seq > 0 ? (
        <Comparison studio={studio} a={a} b={b} />
      ) : (
        <p class="about appears">Reading…</p>
      )}
    </div>
  )
}
