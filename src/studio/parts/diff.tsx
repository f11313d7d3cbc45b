import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { diffAnswers } from '../../core/text/answer-diff.ts'
import { formatCount } from '../../core/text/format.ts'

/** Nobody reads on, and the page has to answer meanwhile. */
const longest = 50_000
/** A tenth of a second, when all is different. */
const maxEdits = 500

interface DiffProps {
  before: string
  after: string
}

/** The later text with what changed since the earlier one: struck out what is gone, underlined what is new. */
export function Diff({ before, after }: DiffProps): JSX.Element {
  const stretches = useMemo(
    () => diffAnswers(before.slice(0, longest), after.slice(0, longest), maxEdits),
    [before, after],
  )
  const left = Math.max(before.length, after.length) - longest
  return (
    <>
      <div class="diff" dir="auto">
        {stretches.map(({ kind, text }, place) => {
          const Shown = kind === 'gone' ? 'del' : kind === 'new' ? 'ins' : 'span'
          // biome-ignore lint/suspicious/noArrayIndexKey: stretches have nothing but their place
          return <Shown key={place}>{text}</Shown>
        })}
      </div>
      {left > 0 ? <p class="about">and {formatCount(left)} characters that are not compared</p> : null}
    </>
  )
}
