import type { FunctionComponent, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** A part of the page that is loaded when it is first shown. `load` gives it; a failure is told, and can be tried again. */
export function lazy<Props extends object>(load: () => Promise<FunctionComponent<Props>>): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | undefined
  // biome-ignore lint/correctness/noComponentHookFactories: called once for a part, not while the page is drawn
  return function Lazy(props: Props): JSX.Element | null {
    const [state, setState] = useState<'loading' | 'ready' | 'failed'>('loading')
    useEffect(() => {
      if (loaded !== undefined || state !== 'loading') return
      let isShown = true
      load().then(
        (part) => {
          loaded = part
          if (isShown) setState('ready')
        },
        () => {
          if (isShown) setState('failed')
        },
      )
      return () => {
        isShown = false
      }
    }, [state])
    const Part = loaded
    if (Part !== undefined) return <Part {...props} />
    if (state === 'loading') return <p class="about appears">Reading…</p>
    return (
      <p role="alert">
        This part of the page could not be loaded.{' '}
        <button type="button" onClick={() => setState('loading')}>
          Try again
        </button>
      </p>
    )
  }
}
