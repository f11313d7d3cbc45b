import { z } from 'zod'
import { knowledgeLimits } from '../../core/knowledge/limits.ts'
import { is, mustBe } from '../../schema/field.ts'

const weight = is<number>('a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1)

/** What passages count for, by pattern of their source; the first that matches decides. */
export const sourceWeights = (): z.ZodType<Record<string, number>, Record<string, number>> =>
  z
    .record(z.string(), weight, mustBe("an object with one weight per pattern, for example { 'archive/**': 0.5 }"))
    .superRefine((given, context) => {
      for (const pattern of Object.keys(given)) {
        const message = problemOf(pattern)
        if (message !== undefined) context.addIssue({ code: 'custom', path: [pattern], message })
      }
    })

function problemOf(pattern: string): string | undefined {
  if (pattern.trim() === '') return "must be named by a pattern of sources, for example 'archive/**'"
  if (pattern.length > knowledgeLimits.label)
    return `must be named by a pattern of at most ${knowledgeLimits.label} characters`
  if (pattern.startsWith('!'))
    return "is named by a pattern with '!', which is not understood; write what it shall match"
  return undefined
}
