import { z } from 'zod'
import type { AgainEdit as CoreAgainEdit } from '../core/again/again.ts'
import { searchModes } from '../core/knowledge/knowledge.ts'
import { againAfters, againKeeps } from '../core/run.ts'
import { integer, json, jsonObject, oneOf, said, text } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { Input, partsOf } from './run.ts'
import { Filters } from './search.ts'

const maxInstructions = 65_536
const maxMessages = 10_000

function number(min: number, max: number) {
  const words = `must be a number from ${min} to ${max}`
  return z.number(said(words)).min(min, { error: words }).max(max, { error: words })
}

const CallSettings = z.strictObject({
  temperature: number(0, 10).exactOptional(),
  topP: number(0, 1).exactOptional(),
  topK: integer(1).exactOptional(),
  maxOutputTokens: integer(1).exactOptional(),
  presencePenalty: number(-10, 10).exactOptional(),
  frequencyPenalty: number(-10, 10).exactOptional(),
  stopSequences: z.array(text(1, 1000), said('must be a list')).max(100).exactOptional(),
  seed: integer(Number.MIN_SAFE_INTEGER).exactOptional(),
})

const PassagesEdit = z.strictObject({
  drop: z.array(text(1, 256), said('must be a list')).max(1000).exactOptional().describe('Ids of chunks to leave out.'),
  limit: integer(1, 100).exactOptional(),
  mode: oneOf(searchModes).exactOptional(),
  filters: Filters.exactOptional(),
})

const roles = ['system', 'user', 'assistant', 'tool'] as const
const PromptMessage = jsonObject().refine(
  ({ role, content }) => roles.some((one) => one === role) && (typeof content === 'string' || Array.isArray(content)),
  { error: 'must be a message as the trace has it: role and content' },
)

export const AgainEdit = component(
  'AgainEdit',
  z.strictObject({
    input: Input.optional().describe('Another input. Not with `from`.'),
    instructions: text(1, maxInstructions).exactOptional().describe("Instead of the agent's own, in all calls."),
    model: text(1, 256).exactOptional().describe('Another model for all calls: `provider/model`.'),
    settings: CallSettings.exactOptional().describe('Settings of all model calls, with the names of the trace.'),
    messages: z
      .array(PromptMessage, said('must be a list'))
      .min(1, { error: 'must not be empty' })
      .max(maxMessages)
      .exactOptional()
      .describe('Instead of the prompt of the model call that `from` names, as the trace has it.'),
    tool_output: json().exactOptional().describe('Instead of the result of the tool call that `from` names.'),
    passages: PassagesEdit.exactOptional().describe(
      'For the first search. With `drop` alone, the recorded passages without these; else it searches anew.',
    ),
  }),
)

export const AgainRequest = component(
  'AgainRequest',
  z.object({
    from: integer(1)
      .optional()
      .describe(
        'The number of an event: a model call, a tool call, a retrieval or a step; else the next of these. What lies before is answered from the record. Without it the whole run is made anew.',
      ),
    edit: AgainEdit.optional(),
    after: oneOf(againAfters)
      .optional()
      .describe(
        'What happens from there on to tool calls and steps of workflows: they wait for an approval (`ask`, the default), the record answers those that it has and the others wait (`recorded`), or they are made (`live`).',
      ),
    times: integer(1, 5).optional().describe('How many such runs, side by side. Default: 1.'),
    keep: oneOf(againKeeps)
      .optional()
      .describe(
        'What becomes of the run: it changes nothing of the session and is deleted after 7 days (`no`, the default), it is the last turn of a new session (`fork`), or it takes the place of the turn (`replace`).',
      ),
  }),
)
export type AgainRequest = z.input<typeof AgainRequest>

export const AgainStarted = component(
  'AgainStarted',
  z.object({ runs: z.array(z.object({ run_id: z.string(), session_id: z.string() })) }),
)
export type AgainStarted = z.infer<typeof AgainStarted>

export const KeepRequest = component(
  'KeepRequest',
  z.object({
    keep: oneOf(['fork', 'replace']).describe(
      'It becomes the last turn of a new session, where it has another id (`fork`), or it takes the place of the turn that it tried again, and of all later ones (`replace`).',
    ),
  }),
)
export type KeepRequest = z.input<typeof KeepRequest>

export const RunKept = component('RunKept', z.object({ run_id: z.string(), session_id: z.string() }))
export type RunKept = z.infer<typeof RunKept>

/** With the input as parts. */
export function editOf({ input, ...edit }: z.output<typeof AgainEdit>): CoreAgainEdit {
  return { ...edit, ...(input !== undefined && { input: partsOf(input) }) }
}
