import { z } from 'zod'
import { integer, json, text } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { CallAnswer, RunError, RunStatus, Usage } from './event.ts'
import { Part } from './message.ts'

const toolCall = { name: z.string(), input: json(), output: json().exactOptional(), error: z.string().exactOptional() }

const savedRequest = {
  kind: z.enum(['approval', 'input', 'tool']),
  tool: z.string().exactOptional(),
  prompt: z.string(),
  answer: CallAnswer,
}

/** A conversation as a test: what `sessions save-test` writes to a file. */
export const SavedTest = component(
  'SavedTest',
  z.object({
    agentserve: z.literal('session-test/1'),
    entity: z.string(),
    tools: z.enum(['recorded', 'live']).describe('`recorded`: tools give their recorded results; `live`: they run.'),
    turns: z.array(
      z.object({
        input: z.array(Part),
        model_calls: z
          .array(
            z.object({
              prompt_hash: z.string().describe('Shows that a prompt has changed. The prompt itself is not there.'),
              text: z.string().exactOptional(),
              reasoning: z.string().exactOptional(),
              tool_calls: z.array(z.object({ call_id: z.string(), name: z.string(), input: json() })).exactOptional(),
              finish_reason: z.string(),
              usage: Usage.nullable(),
            }),
          )
          .describe('The recorded answers of the models.'),
        pauses: z
          .array(z.array(z.object(savedRequest)))
          .exactOptional()
          .describe('What the run waited for and what was answered, pause by pause.'),
        expect: z.object({
          status: RunStatus,
          content: z.string(),
          data: z.array(json()).exactOptional(),
          error: z.string().exactOptional(),
          tool_calls: z.array(z.object(toolCall)),
        }),
      }),
    ),
  }),
)
export type SavedTest = z.infer<typeof SavedTest>

/** Not the name of a device of Windows, which has every ending. */
const fileName = /^(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[A-Za-z0-9][\w.-]{0,99}$/i

export const SaveTestRequest = component(
  'SaveTestRequest',
  z.object({
    session_id: text(),
    name: z
      .string()
      .regex(fileName, {
        error:
          'must be 1 to 100 letters, digits, dots, hyphens or underscores, a letter or digit first, and no device of Windows',
      })
      .describe('The file is `test/<name>.session.json`.'),
  }),
)

export type SaveTestRequest = z.input<typeof SaveTestRequest>

export const ProjectTest = component(
  'ProjectTest',
  z.object({
    name: z.string().describe('Its path in the project, without `.session.json`.'),
    entity: z.string().nullable(),
    turns: z.int().nullable(),
    problem: z.string().nullable().describe('Why the file can not be played; else null.'),
  }),
)
export type ProjectTest = z.infer<typeof ProjectTest>

export const ProjectTestList = component('ProjectTestList', z.object({ tests: z.array(ProjectTest) }))
export type ProjectTestList = z.infer<typeof ProjectTestList>

export const RunTestsRequest = component(
  'RunTestsRequest',
  z.object({ names: z.array(text()).max(1000, { error: 'must have at most 1000 names' }).optional() }),
)

const difference = z.object({
  turn: integer(1),
  what: z.enum(['status', 'content', 'data', 'error', 'tool_calls', 'model_calls', 'waiting']),
  expected: json(),
  actual: json(),
})

/** An event of a run of tests. */
export const TestEvent = component(
  'TestEvent',
  z.discriminatedUnion('type', [
    z.object({
      type: z.literal('result'),
      name: z.string(),
      passed: z.boolean(),
      differences: z.array(difference),
      notes: z.array(z.string()).describe('Changes that did not affect the outcome.'),
      problem: z.string().nullable().describe('Why the file can not be played; else null.'),
      duration_ms: z.number(),
      usage: Usage.nullable().describe('Of the recorded answers that were played.'),
    }),
    z.object({ type: z.literal('end'), passed: z.int(), failed: z.int() }),
    z.object({ type: z.literal('error'), error: RunError }),
  ]),
)
export type TestEvent = z.infer<typeof TestEvent>
