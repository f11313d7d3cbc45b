import { useEffect, useState } from 'preact/hooks'

/** How much larger than the 16 px of most browsers a person has the text. */
export function textScale(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16
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
