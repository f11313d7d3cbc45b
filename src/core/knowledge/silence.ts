import type { Fit } from './knowledge.ts'

/** Why an agent without a model quotes nothing. */
export interface Silence {
  reason: string
  /** Of the best passage, or of the whole search. */
  score: number
  threshold: number
}

/** Undefined when the search fits: then it depends on its passages. */
export function silenceOf({ score, threshold }: Fit): Silence | undefined {
  return score < threshold ? { reason: 'The passages do not fit the question.', score, threshold } : undefined
}
