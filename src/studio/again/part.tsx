import type { ComponentChildren, JSX } from 'preact'
import { Diff } from '../parts/diff.tsx'

/** What is compared of two runs, under its name. */
export function Part({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

interface TextDiffProps {
  before: string | undefined
  after: string | undefined
}

/** What changed from one text to the other, or that nothing did. */
export function TextDiff({ before = '', after = '' }: TextDiffProps): JSX.Element {
  if (before === after) return <p class="about">{before === '' ? 'Nothing in both.' : 'The same in both.'}</p>
  return <Diff before={before} after={after} />
}

/** A mark for what one of them does not have. */
export function onlyIn([inA, inB]: readonly boolean[]): JSX.Element | null {
  if (inA && inB) return null
  return <span class="mark">only in {inA ? 'A' : 'B'}</span>
}
