import { z } from 'zod'
import type { Message as CoreMessage, Part as CorePart } from '../core/message.ts'
import type { MarkedHit } from '../core/text/message-search.ts'
import { json, said, text, timestamp } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { listOf, pageQuery } from './list.ts'

const TextPart = z.object({ type: z.literal('text'), text: z.string(said('must be a string')) })
const DataPart = z.object({ type: z.literal('data'), data: json() })
const fileFields = {
  type: z.literal('file'),
  media_type: text(1, 255),
  name: text(1, 255).exactOptional(),
}

const FilePart = z.object({
  ...fileFields,
  file_id: z.string().exactOptional().describe('Names a file that the session keeps, in that session only.'),
  size: z.int().exactOptional().describe('In bytes; with `file_id`.'),
  url: z.string().exactOptional(),
})

export const Part = component(
  'Part',
  z.discriminatedUnion('type', [TextPart, DataPart, FilePart], said('must be text, data or file')),
) satisfies z.ZodType<CorePart>

const Role = z.enum(['user', 'assistant'])

/** A file part without its message. */
export const RunFile = component(
  'RunFile',
  FilePart.extend({ role: Role.describe('`user`: it was given to the run; `assistant`: the run made it.') }),
)
export type RunFile = z.infer<typeof RunFile>

export const FileContent = z.string().meta({ format: 'binary' })

/** A part as a client sends it. */
export const InputPart = component(
  'InputPart',
  z.discriminatedUnion(
    'type',
    [
      TextPart,
      DataPart,
      z.object({
        ...fileFields,
        data: z
          .string(said('must be base64'))
          .exactOptional()
          .describe('The content, as base64. Either this or `url`.'),
        file_id: z.never(said("can't be sent: send the file's `data` or its `url`")).exactOptional(),
        url: z.string(said('must be an http or https address')).exactOptional().describe('An http or https address.'),
      }),
    ],
    said('must be text, data or file'),
  ),
)

export const Message = component(
  'Message',
  z.object({
    message_id: z.string(),
    run_id: z.string(),
    role: Role,
    parts: z.array(Part),
    content: z.string().describe('The text of the parts, joined; without text, the last data part as JSON.'),
    created_at: timestamp(),
  }),
) satisfies z.ZodType<CoreMessage>
export type Message = z.infer<typeof Message>

export const MessagesQuery = z.object({
  q: text(1, 1000).describe(
    'Words to search for. A message must contain all of them, in any order. `open*` also matches `opening`.',
  ),
  session_id: text().optional(),
  agent_id: text().optional(),
  team_id: text().optional(),
  workflow_id: text().optional(),
  user_id: text().optional(),
  ...pageQuery,
})

export const MessageHit = component(
  'MessageHit',
  z.object({
    session_id: z.string(),
    run_id: z.string(),
    message_id: z.string(),
    entity_id: z.string().describe('The agent, team or workflow of the run.'),
    role: Role,
    created_at: timestamp(),
    snippet: z.string().describe('The text around the first match, on one line.'),
    marks: z
      .array(z.object({ start: z.int(), end: z.int() }))
      .describe('Where the words of the search are in the snippet, in UTF-16 units; `end` is after the last one.'),
    replaced: z.literal(true).exactOptional().describe('Another run has taken the place of this turn.'),
  }),
) satisfies z.ZodType<MarkedHit>
export type MessageHit = z.infer<typeof MessageHit>

export const MessageHitList = component('MessageHitList', listOf('messages', MessageHit))
export type MessageHitList = z.infer<typeof MessageHitList>
