import { z } from 'zod'
import type { JsonObject } from '../core/json.ts'
import type { GivenPart as CoreGivenPart, Role } from '../core/message.ts'
import {
  againAfters,
  againKeeps,
  type AgainOf as CoreAgainOf,
  type Run as CoreRun,
  type RunGiven as CoreRunGiven,
  runStatuses,
  runTextForms,
} from '../core/run.ts'
import { flag, id, integer, json, jsonObject, oneOf, said, text, timestamp } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { CallAnswer, Cost, EntityKind, ModelUsage, RunError, RunStatus, Source, Usage, Waiting } from './event.ts'
import { listOf, pageQuery } from './list.ts'
import { InputPart, Message, Part, RunFile } from './message.ts'

const inputWords = 'must be text, a JSON object or {"parts": [...]}'
const MessageInput = z.strictObject({ parts: z.array(InputPart).min(1, { error: 'must not be empty' }) })
const DataInput = jsonObject().refine((value) => !isMessage(value), { abort: true })
export const Input = z
  .union([text(), MessageInput, DataInput], said(inputWords))
  .describe('Text, `{"parts": [...]}`, or any other object, which is one data part.')

function isMessage(input: object): boolean {
  return Object.keys(input).length === 1 && 'parts' in input && Array.isArray(input.parts)
}

/** The parts of a run's input. */
export function partsOf(input: z.output<typeof Input>): CoreGivenPart[] {
  if (typeof input === 'string') return [{ type: 'text', text: input }]
  return isMessage(input)
    ? (input as z.output<typeof MessageInput>).parts
    : [{ type: 'data', data: input as JsonObject }]
}

const maxInstructions = 65_536

const GivenMessage = component(
  'GivenMessage',
  z
    .object(
      {
        role: oneOf(['user', 'assistant']),
        content: z.string(said('must be a string')).optional().describe('The text, instead of `parts`.'),
        parts: z.array(InputPart, said('must be a list')).optional(),
      },
      { error: 'must be an object' },
    )
    .refine(({ content, parts }) => content !== undefined || parts !== undefined, {
      error: 'is required, or parts',
      path: ['content'],
    }),
)

export const ClientTool = component(
  'ClientTool',
  z.object({
    name: text(1, 64),
    description: text(0).exactOptional(),
    parameters: jsonObject().describe('The JSON schema of its input.'),
  }),
)

export const RunRequest = component(
  'RunRequest',
  z.object({
    input: Input,
    session_id: text().optional().describe('Without it, a new session is created.'),
    user_id: id().optional(),
    stream: flag().optional().describe('Answer with server-sent events.'),
    background: flag().optional().describe('Answer 202 at once. The run continues after the request.'),
    metadata: jsonObject().optional(),
    state: jsonObject().optional().describe("Merged over the session's state when the run starts."),
    client_tools: z
      .array(ClientTool, said('must be a list'))
      .optional()
      .describe('Tools that the caller executes. The run pauses when the model calls one.'),
    replaces: text(1, 128)
      .optional()
      .describe(
        'A turn of the session. This run takes its place and that of all later turns; one that is under way is cancelled.',
      ),
    multitask_strategy: oneOf(['enqueue', 'reject', 'interrupt'])
      .optional()
      .describe(
        'If the session already has an active run: `enqueue` waits (default), `reject` answers 409, `interrupt` cancels the other run.',
      ),
    on_disconnect: oneOf(['cancel', 'continue'])
      .optional()
      .describe('What to do with the run when the client disconnects. Default: cancel.'),
    history: z
      .array(GivenMessage, said('must be a list'))
      .optional()
      .describe("The earlier messages, oldest first, instead of the session's. Only for this run."),
    instructions: text(1, maxInstructions)
      .optional()
      .describe("They follow the agent's own. The header `X-Agentserve-Ignored` names them when they are not used."),
    output_schema: jsonObject()
      .optional()
      .describe('A JSON schema. The answer is a data part that matches it. Only for agents with a model.'),
  }),
)
export type RunRequest = z.input<typeof RunRequest>

/** The same with files, which become file parts after those of `request`. */
export const RunForm = component(
  'RunForm',
  z.object({
    request: RunRequest,
    file: z.array(z.string().meta({ format: 'binary' })).optional(),
  }),
)

type Given = Omit<CoreRunGiven, 'history'> & { history?: { role: Role; parts: CoreGivenPart[] }[] }

/** What the caller gives besides the input. */
export function givenOf(request: z.output<typeof RunRequest>): Given | undefined {
  const { client_tools: tools = [], history, instructions, output_schema } = request
  const given: Given = {}
  if (tools.length > 0) given.client_tools = tools
  if (history !== undefined) given.history = history.map(toGivenMessage)
  if (instructions !== undefined) given.instructions = instructions
  if (output_schema !== undefined) given.output_schema = output_schema
  return Object.keys(given).length === 0 ? undefined : given
}

function toGivenMessage({ role, content = '', parts }: z.output<typeof GivenMessage>) {
  return { role, parts: parts ?? [{ type: 'text' as const, text: content }] }
}

/** What a caller gives a run besides its input, as the record keeps it. */
export const RunGiven = component(
  'RunGiven',
  z.object({
    client_tools: z.array(ClientTool).exactOptional(),
    history: z.array(z.object({ role: z.enum(['user', 'assistant']), parts: z.array(Part) })).exactOptional(),
    instructions: text().exactOptional(),
    output_schema: jsonObject().exactOptional(),
    edit: jsonObject().exactOptional().describe('What was changed in the run that it repeats.'),
    protocol: z
      .object({ name: text(1, 64), echo: jsonObject() })
      .exactOptional()
      .describe('What the protocol by which the run came has to say again.'),
    traceparent: text(1, 512).exactOptional().describe('The header of that name of its request.'),
  }),
) satisfies z.ZodType<CoreRunGiven>

const parentRunId = () => z.string().nullable().describe('The parent run, if this is the run of a team member.')

const replacedBy = () => z.string().nullable().describe('The run that took the place of this turn of the session.')

export const AgainOf = component(
  'AgainOf',
  z.object({
    run_id: z.string(),
    from: z.int().nullable().describe('The event from which it runs; earlier ones are answered from the record.'),
    after: z.enum(againAfters),
    keep: z.enum(againKeeps),
  }),
) satisfies z.ZodType<CoreAgainOf>
const againOf = () => AgainOf.nullable().describe('The run that it repeats.')
const usageByModel = () =>
  z
    .array(ModelUsage)
    .exactOptional()
    .describe('`usage`, with that of child runs, by model. Absent where it is not recorded.')

const cost = () =>
  Cost.nullable().describe('What `usage_by_model` costs by the prices of now. Null: a part is not known.')

const outcome = {
  run_id: z.string(),
  session_id: z.string(),
  agent_id: z.string(),
  status: RunStatus,
  content: z.string().describe("The text of the assistant's messages; without text, their last data part as JSON."),
  messages: z.array(Message),
  sources: z.array(Source),
  usage: Usage.nullable(),
  usage_by_model: usageByModel(),
  cost: cost(),
  cache_hit: z.boolean(),
  waiting: z.array(Waiting).describe('What the run waits for. Empty unless its status is `input_required`.'),
  replaced_by: replacedBy(),
  again_of: againOf(),
  metadata: jsonObject().nullable(),
  created_at: timestamp(),
  completed_at: timestamp().nullable(),
}

export const RunResult = component('RunResult', z.object(outcome))
export type RunResult = z.infer<typeof RunResult>

export const RunDetail = component(
  'RunDetail',
  z.object({
    ...outcome,
    parent_run_id: parentRunId(),
    entity_id: z.string(),
    entity_kind: EntityKind,
    started_at: timestamp().nullable(),
    cancellation_reason: z.string().nullable(),
    error: RunError.nullable(),
    truncated: z.boolean().describe('Whether a crash may have lost the last moments of the stream.'),
  }),
)
export type RunDetail = z.infer<typeof RunDetail>

export const Run = component(
  'Run',
  z.object({
    run_id: z.string(),
    session_id: z.string(),
    parent_run_id: parentRunId(),
    entity_id: z.string(),
    entity_kind: EntityKind,
    status: RunStatus,
    created_at: timestamp(),
    started_at: timestamp().nullable(),
    completed_at: timestamp().nullable(),
    cancellation_reason: z.string().nullable(),
    error: RunError.nullable(),
    cache_hit: z.boolean(),
    usage: Usage.nullable(),
    usage_by_model: usageByModel(),
    cost: cost(),
    waiting: z.array(Waiting),
    replaced_by: replacedBy(),
    again_of: againOf(),
  }),
) satisfies z.ZodType<CoreRun>

export const RunAccepted = component(
  'RunAccepted',
  z.object({ run_id: z.string(), session_id: z.string(), status: RunStatus }),
)
export type RunAccepted = z.infer<typeof RunAccepted>

export type Run = z.infer<typeof Run>

export const RunList = component('RunList', listOf('runs', Run))
export type RunList = z.infer<typeof RunList>

export const SessionRunList = component(
  'SessionRunList',
  listOf('runs', Run.extend({ files: z.array(RunFile).exactOptional().describe('Only with `files=true`.') })),
)
export type SessionRunList = z.infer<typeof SessionRunList>

const filter = {
  status: oneOf(runStatuses).optional(),
  agent_id: text().optional(),
  again: flag().optional().describe("Include runs that only try another one again (`again_of.keep: 'no'`)."),
}
export const SessionRunsQuery = z.object({
  ...filter,
  files: flag().default(false).describe('Include the files of the messages of each run.'),
  ...pageQuery,
})
export const RunsQuery = z.object({
  ...filter,
  session_id: text().optional(),
  parent_run_id: text().optional(),
  ...pageQuery,
})

const include = oneOf(['prompts']).optional().describe('`prompts` includes the exact prompts of model calls.')
export const StreamQuery = z.object({ include })
export const RunEventsQuery = z.object({
  after: integer(0).optional().describe('Only events with a larger `seq`. `Last-Event-ID` takes precedence.'),
  include,
})

export const RunTextQuery = z.object({
  as: oneOf(runTextForms)
    .default('markdown')
    .describe(
      '`markdown` is for a model, the others ask the same once more: a command, a program, a part of a page in React.',
    ),
})

export const CancelRequest = component('CancelRequest', z.object({ reason: text(1, 1000).optional() }))
export type CancelRequest = z.input<typeof CancelRequest>

export const ResumeRequest = component(
  'ResumeRequest',
  z.object({
    approved: z
      .union([flag(), z.record(z.string(), flag())], said('must be true, false, or {"<call_id>": true}'))
      .optional()
      .describe('One decision for everything that is waiting, or one per `call_id`.'),
    input: json().optional().describe('The requested input, or a reason for the decision.'),
    answers: z
      .record(z.string(), CallAnswer, said('must be a JSON object'))
      .optional()
      .describe(
        'One answer per `call_id`; together with `approved` and `input`, all that is waiting must be answered.',
      ),
    stream: flag().optional().describe('Answer with server-sent events, from the point where the run continues.'),
    background: flag().optional().describe('Answer 202 at once. Default: the same as when the run was started.'),
    on_disconnect: oneOf(['cancel', 'continue'])
      .optional()
      .describe('What to do with the run when the client disconnects. Default: cancel.'),
  }),
)
export type ResumeRequest = z.input<typeof ResumeRequest>
