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

interface PairProps extends TextDiffProps {
  name: string
  children?: ComponentChildren
}

/** One of several things that both may have; undefined in one that does not. */
export function Pair({ name, before, after, children }: PairProps): JSX.Element {
  return (
    <li>
      <strong>{name}</strong> {children}
      {before === undefined || after === undefined ? (
        <span class="mark">only in {after === undefined ? 'A' : 'B'}</span>
      ) : null}
      <TextDiff before={before} after={after} />
    </li>
  )
}
