import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'

/** How much larger than the 16 px of most browsers a person has the text, as far as `watchTextScale` knows. */
export const textScale = signal(1)

/** From now on it is known, also when it changes: no event tells of it, but the size of an element does. */
export function watchTextScale(): void {
  const probe = document.body.appendChild(document.createElement('div'))
  Object.assign(probe.style, { position: 'fixed', width: '1rem' })
  const measure = () => {
    textScale.value = probe.offsetWidth / 16
  }
  measure()
  new ResizeObserver(measure).observe(probe)
}

/** Whether the page is as narrow as on a phone, where what is pressed has to be larger. */
export function useNarrow(): boolean {
  const [query] = useState(() => matchMedia('(max-width: 45em)'))
  const [isNarrow, setNarrow] = useState(query.matches)
  useEffect(() => {
    const changed = () => setNarrow(query.matches)
    query.addEventListener('change', changed)
    changed()
    return () => query.removeEventListener('change', changed)
  }, [query])
  return isNarrow
}
