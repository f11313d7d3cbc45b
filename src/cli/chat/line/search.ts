/** How far back the newest text is that contains the words, from `place` on, 1 being the newest; each text once. */
export function findBefore(typed: readonly string[], wanted: string, place: number): number | undefined {
  if (wanted === '') return undefined
  const words = wanted.toLowerCase()
  const seen = new Set(place > 1 ? typed.slice(typed.length - place + 1) : [])
  for (let back = Math.max(1, place); back <= typed.length; back++) {
    const text = typed[typed.length - back] ?? ''
    if (text.toLowerCase().includes(words) && !seen.has(text)) return back
  }
  return undefined
}
