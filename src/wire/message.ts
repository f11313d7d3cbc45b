import { z } from 'zod'
import type { Message as CoreMessage, Part as CorePart } from '../core/message.ts'
import { component } from './component.ts'
import { json, said, timestamp } from './field.ts'

/** A piece of a message, put in or given out. */
export const Part = component(
  'Part',
  z.discriminatedUnion(
    'type',
    [
      z.object({ type: z.literal('text'), text: z.string(said('must be a string')) }),
      z.object({ type: z.literal('data'), data: json() }),
    ],
    said('must be text or data'),
  ),
) satisfies z.ZodType<CorePart>

export const Message = component(
  'Message',
  z.object({
    message_id: z.string(),
    run_id: z.string(),
    role: z.enum(['user', 'assistant']),
    parts: z.array(Part),
    content: z.string().describe('The text of the parts, joined.'),
    created_at: timestamp(),
  }),
) satisfies z.ZodType<CoreMessage>
export type Message = z.infer<typeof Message>
