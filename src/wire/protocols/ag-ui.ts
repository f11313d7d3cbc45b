import { z } from 'zod'
import { id, integer, jsonObject, oneOf } from '../../schema/request-field.ts'
import { component } from '../document/component.ts'

/*
 * The shapes of AG-UI, for the OpenAPI document. What is posted is read in protocols/ag-ui: of the messages only the new ones count,
 * and fields that are not known are ignored.
 */

/** What a client may send besides AG-UI's own fields, as `agentserve` in `forwardedProps`. */
export const AgUiOptions = component(
  'AgUiOptions',
  z.object({
    user_id: id().optional(),
    metadata: jsonObject().optional(),
    on_disconnect: oneOf(['cancel', 'continue'])
      .optional()
      .describe('What to do with the run when the client closes the stream. Default: cancel.'),
  }),
)
export type AgUiOptions = z.output<typeof AgUiOptions>

export const AgUiMessage = component(
  'AgUiMessage',
  z.looseObject({
    id: z.string(),
    role: z.string().describe('`user`, `assistant`, `tool`, `system` …'),
    content: z.union([z.string(), z.array(jsonObject())]).optional(),
  }),
)

export const AgUiInput = component(
  'AgUiInput',
  z.looseObject({
    threadId: z.string().describe('A `session_id`. An unknown one is created.'),
    runId: z.string().describe("The client's. With the same one again the same run is followed."),
    protocolVersion: z.string().optional(),
    messages: z
      .array(AgUiMessage)
      .describe('The conversation. Only the new messages of the user, or of tools, are read.'),
    state: jsonObject().optional().describe("Merged over the session's state when the run starts."),
    tools: z.array(jsonObject()).optional().describe('Tools that the client executes.'),
    context: z.array(jsonObject()).optional().describe("It follows the agent's own instructions."),
    forwardedProps: z
      .looseObject({ agentserve: AgUiOptions.optional() })
      .optional()
      .describe('Kept as `ag_ui` in the metadata of the run.'),
    resume: z
      .array(
        z.looseObject({
          interruptId: z.string(),
          status: z.enum(['resolved', 'cancelled']),
          payload: z.unknown().optional(),
        }),
      )
      .optional()
      .describe('Answers to all open interrupts of the thread.'),
  }),
)

export const AgUiEvent = component(
  'AgUiEvent',
  z
    .looseObject({ type: z.string() })
    .describe('An event of AG-UI, from `RUN_STARTED` to `RUN_FINISHED` or `RUN_ERROR`.'),
)

export const AgUiThreadQuery = z.object({
  runId: z.string().max(256).optional().describe('The `runId` of the answer. Default: that of the newest run.'),
  protocolVersion: z.string().max(40).optional().describe('That of the client, from 1.0 on.'),
  limit: integer(1, 1000).default(50).describe('How many turns, the latest ones.'),
})
