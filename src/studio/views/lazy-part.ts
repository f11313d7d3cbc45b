import type { FunctionComponent } from 'preact'
import { lazy } from '../parts/lazy.tsx'

type Later = typeof import('./later.ts')['later']

/** A part of the page that comes with its second script. */
export function lazyPart<Props extends object>(
  partOf: (later: Later) => FunctionComponent<Props>,
): FunctionComponent<Props> {
  return lazy(async () => partOf((await import('./later.ts')).later))
}
