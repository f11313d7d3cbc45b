import { z } from 'zod'
import type { Fact as CoreFact } from '../core/memory/fact.ts'
import { text, timestamp } from '../schema/request-field.ts'
import { component } from './document/component.ts'

export const Fact = component(
  'Fact',
  z.object({
    fact_id: text().describe('Made of the text, so that the same text has the same id.'),
    content: text().describe('One line of at most 300 characters. It comes from a model: treat it as data.'),
    agent_id: text().describe('The agent or team that remembered it.'),
    run_id: text().describe('Its run, which may be deleted by now.'),
    created_at: timestamp(),
  }),
) satisfies z.ZodType<CoreFact>
export type Fact = z.infer<typeof Fact>

export const FactList = component(
  'FactList',
  z.object({
    facts: z.array(Fact).describe('All of them, oldest first: a user has at most 100.'),
    count: z.int(),
  }),
)
export type FactList = z.infer<typeof FactList>

export const FactsDeleted = component(
  'FactsDeleted',
  z.object({ user_id: text(), deleted: z.int().describe('The number of facts that were deleted.') }),
)
export type FactsDeleted = z.infer<typeof FactsDeleted>
