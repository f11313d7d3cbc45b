import { editDistance } from './edit-distance.ts'

/** The likely intended word of `known`: at most two edits away (one for short words); else undefined. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = word.length < 5 ? 2 : 3
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}
