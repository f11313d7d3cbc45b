import { z } from 'zod'
import type { Summary as CoreSummary } from '../core/summary.ts'
import { flag, timestamp } from '../schema/request-field.ts'
import { component } from './document/component.ts'

export const Summary = component(
  'Summary',
  z.object({
    session_id: z.string(),
    content: z.string(),
    model: z.string(),
    run_count: z.int(),
    message_count: z.int(),
    created_at: timestamp(),
  }),
) satisfies z.ZodType<CoreSummary>

export const SummaryAnswer = component('SummaryAnswer', z.object({ summary: Summary }))
export type SummaryAnswer = z.infer<typeof SummaryAnswer>

export const SummaryScheduled = component(
  'SummaryScheduled',
  z.object({ status: z.literal('scheduled'), session_id: z.string() }),
)
export type SummaryScheduled = z.infer<typeof SummaryScheduled>

export const SummaryQuery = z.object({
  async: flag().default(false).describe('Answer 202 at once and write the summary in the background.'),
})
