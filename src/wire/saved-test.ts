import { z } from 'zod'
import { flag, integer, json, oneOf, text, timestamp } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { CallAnswer, Cost, RunError, RunStatus, Usage } from './event.ts'
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
  z.object({
    names: z.array(text()).max(1000, { error: 'must have at most 1000 names' }).optional(),
    mode: oneOf(['replay', 'scores'])
      .default('replay')
      .describe(
        '`replay`: models give their recorded answers. `scores`: the models of the config are asked, and scorers judge.',
      ),
    times: integer(1, 10)
      .default(1)
      .describe('How often each test is played. One that passes some of the times is flaky.'),
    update: flag()
      .default(false)
      .describe('Writes the answers of now into the files of tests that differ; only with `replay`.'),
  }),
)

const difference = z.object({
  turn: integer(1),
  what: z.enum(['status', 'content', 'data', 'error', 'tool_calls', 'model_calls', 'waiting']),
  expected: json(),
  actual: json(),
})

const result = {
  name: z.string().describe('Its path in the project, without `.session.json`.'),
  passed: z.boolean().describe('Each time that it was played.'),
  flaky: z.boolean().describe('It passed some of the times.'),
  passes: integer(0),
  times: integer(1),
  score: z.number().nullable().describe('The mean of all scores, from 0 to 1; null without scores.'),
  score_by_scorer: z.record(z.string(), z.number()),
  usage: Usage.nullable().describe('Of the answers, recorded or new, over all times.'),
  cost: Cost.nullable().describe('Of the answers; null when a price is not known, as for recorded ones.'),
  duration_ms: z.number(),
}

const KeptTestRun = component(
  'KeptTestRun',
  z.object({
    at: timestamp(),
    mode: z.enum(['replay', 'scores']),
    commit: z.string().nullable().describe('Of the repository that the project is in; null without one.'),
    changed: z.boolean().describe('Files differed from that commit.'),
    results: z.array(z.object(result)),
  }),
)

/** Newest first. */
export const KeptTestRuns = component('KeptTestRuns', z.object({ runs: z.array(KeptTestRun) }))
export type KeptTestRuns = z.infer<typeof KeptTestRuns>

/** An event of a run of tests. */
export const TestEvent = component(
  'TestEvent',
  z.discriminatedUnion('type', [
    z.object({
      type: z.literal('result'),
      differences: z.array(difference),
      notes: z.array(z.string()).describe('Changes that did not affect the outcome.'),
      problem: z.string().nullable().describe('Why the file can not be played; else null.'),
      updated: z.boolean().describe('The file has the answers of now.'),
      scores: z.array(
        z.object({
          turn: integer(1),
          scorer: z.string(),
          score: z.number().nullable().describe('From 0 to 1; null when the scorer failed.'),
          passed: z.boolean(),
          reason: z.string().exactOptional(),
          problem: z.string().exactOptional(),
        }),
      ),
      judge_usage: Usage.nullable().describe('Of the models that judged.'),
      ...result,
    }),
    z.object({ type: z.literal('end'), passed: z.int(), failed: z.int() }),
    z.object({ type: z.literal('error'), error: RunError }),
  ]),
)
export type TestEvent = z.infer<typeof TestEvent>
export type RunTestsRequest = z.input<typeof RunTestsRequest>
export type TestsToRun = z.output<typeof RunTestsRequest>
