/** How long what moves by itself rests between two steps, in ms: not at all, unless a person wants little to move. */
export function motionRestMs(): number {
  return matchMedia('(prefers-reduced-motion: reduce)').matches ? 1000 : 0
}
