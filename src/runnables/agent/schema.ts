import { z } from 'zod'
import { defaultHistoryRuns } from '../../core/runnable.ts'
import { check } from '../../schema/check.ts'
import {
  anything,
  callback,
  choose,
  duration,
  flag,
  integer,
  is,
  isObject,
  list,
  number,
  object,
  oneOf,
  settings,
  sound,
  string,
} from '../../schema/field.ts'
import { filters } from '../../schema/knowledge.ts'
import { modelChoice } from '../../schema/model.ts'
import { problemOfApproval } from '../tools/approvals.ts'
import type { AnyAgentSettings } from './settings.ts'

const knowledgeSettings = settings({
  mode: oneOf(['first', 'tool']).default('first'),
  limit: integer(1, 100).default(6),
  filters: filters.optional(),
  collection: string().optional(),
})
export type CheckedKnowledge = z.output<typeof knowledgeSettings>

export const memorySettings = settings({
  runs: integer(0, 1000).default(defaultHistoryRuns),
  tokens: integer(1, 100_000_000).optional(),
  summary: flag().optional(),
  user: flag().default(false),
}).transform(({ runs, tokens = Number.POSITIVE_INFINITY, summary = runs > 0, user }) => ({
  ...{ runs, tokens, summary },
  user,
}))
export type CheckedMemory = z.output<typeof memorySettings>

const limit = integer(1, 2 ** 31 - 1)
const toolLimits = object<Record<string, number | undefined>>().superRefine((limits, context) => {
  for (const [key, value] of Object.entries(limits)) {
    const complain = (message: string) => context.addIssue({ code: 'custom', path: [key], message })
    if (!key.endsWith('Ms')) complain(`must be the name of a tool with Ms behind it: ${key}Ms`)
    else if (value !== undefined) check(limit, value, '', (_, message) => complain(message))
  }
})
const timeouts = settings({
  totalMs: limit.optional(),
  stepMs: limit.optional(),
  firstChunkMs: limit.optional(),
  chunkMs: limit.optional(),
  toolMs: limit.optional(),
  tools: toolLimits.optional(),
})
type Timeout = number | z.output<typeof timeouts>

const resolved = {
  knowledge: choose(
    (value): z.ZodType<CheckedKnowledge> =>
      value === true ? z.literal(true).transform(() => knowledgeSettings.parse({})) : knowledgeSettings,
  ).optional(),
  memory: memorySettings.prefault({}),
  cache: settings({ ttl: duration(), shared: flag().optional() }).optional(),
  timeout: choose((value): z.ZodType<Timeout> => (isObject(value) ? timeouts : duration())).optional(),
  sideEffects: flag().default(true),
}

const tools = object('an object of tools').superRefine((given, context) => {
  for (const [name, tool] of Object.entries(given)) {
    if (isObject(tool) && ('inputSchema' in tool || 'type' in tool)) continue
    const message = 'is not a tool; make it with tool({ description, inputSchema, execute })'
    context.addIssue({ code: 'custom', path: [name], message })
  }
})
const checks = is('a function or a list of functions', (value) =>
  [value].flat().every((one) => typeof one === 'function'),
).optional()
const instructions = is(
  'a text, a system message or a function of the run',
  (value) => ['string', 'function'].includes(typeof value) || isObject(value) || Array.isArray(value),
)
const callable = callback().optional()
const plain = object().optional()
const numeric = number().optional()
const any = anything().optional()
const texts = list(anything()).optional()

/** Every setting; the compiler refuses a missing or an additional one. */
export const agentSettings = settings(
  {
    ...resolved,
    name: string().optional(),
    description: string().optional(),
    model: modelChoice.optional(),
    instructions: instructions.optional(),
    tools: tools.optional(),
    guardrails: settings({ input: checks, output: checks }).optional(),
    hooks: settings({ run: callable, modelCall: callable, toolCall: callable }).optional(),
    run: callable,
    output: plain,
    stopWhen: any,
    toolChoice: any,
    activeTools: texts,
    toolOrder: texts,
    toolCallConcurrency: numeric,
    toolApproval: sound(problemOfApproval).optional(),
    toolsContext: plain,
    runtimeContext: plain,
    maxOutputTokens: numeric,
    temperature: numeric,
    topP: numeric,
    topK: numeric,
    presencePenalty: numeric,
    frequencyPenalty: numeric,
    stopSequences: texts,
    seed: numeric,
    reasoning: any,
    maxRetries: integer(0, 100).optional(),
    headers: plain,
    providerOptions: plain,
    allowSystemInMessages: flag().optional(),
    telemetry: plain,
    include: plain,
    prepareStep: callable,
    prepareCall: callable,
    repairToolCall: callable,
    onStart: callable,
    onStepStart: callable,
    onStepEnd: callable,
    onStepError: callable,
    onStepFinish: callable,
    onLanguageModelCallStart: callable,
    onLanguageModelCallEnd: callable,
    onToolExecutionStart: callable,
    onToolExecutionEnd: callable,
    onError: callable,
    onAbort: callable,
    onEnd: callable,
    onFinish: callable,
    experimental_telemetry: plain,
    experimental_toolCallers: any,
    experimental_toolApprovalSecret: any,
    experimental_repairToolCall: callable,
    experimental_refineToolInput: plain,
    experimental_onStart: callable,
    experimental_onStepStart: callable,
  } satisfies Record<keyof AnyAgentSettings, z.ZodType>,
  { effects: 'sideEffects' },
)

/** The checked settings: agentserve's own with every default, the AI SDK's unchanged. */
export type CheckedAgent = Omit<AnyAgentSettings, keyof typeof resolved> & z.output<z.ZodObject<typeof resolved>>
