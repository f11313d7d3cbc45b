import { z } from 'zod'
import { flag, integer, text } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { RunEvent } from './event.ts'
import { Message } from './message.ts'
import { Run } from './run.ts'
import { Summary } from './summary.ts'

export const HistoryQuery = z.object({
  num_messages: integer(1, 1000).default(50).describe('The number of latest interactions. An interaction is one run.'),
  before: text().optional().describe('A turn of the session: only what led to it, for earlier pages.'),
  replaced: flag().default(false).describe('Include turns that other runs have replaced, in the order of their start.'),
  stream_events: flag().default(false).describe('Include the recorded events of each run.'),
})

export const History = component(
  'History',
  z.object({
    session_id: z.string(),
    messages: z.array(Message).describe('Oldest first.'),
    runs: z.array(Run.extend({ events: z.array(RunEvent).optional() })).describe('Oldest first.'),
    summary: Summary.nullable(),
    has_more: z.boolean().describe('Whether there are earlier interactions.'),
  }),
)
export type History = z.infer<typeof History>
