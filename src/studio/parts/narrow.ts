import { useEffect, useState } from 'preact/hooks'

/** Whether the page is as narrow as on a phone, where what is pressed has to be larger. */
export function useNarrow(): boolean {
  const [query] = useState(() => matchMedia('(max-width: 720px)'))
  const [isNarrow, setNarrow] = useState(query.matches)
  useEffect(() => {
    const changed = () => setNarrow(query.matches)
    query.addEventListener('change', changed)
    changed()
    return () => query.removeEventListener('change', changed)
  }, [query])
  return isNarrow
}
