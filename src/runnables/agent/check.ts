import type { Duration } from '../../core/duration.ts'
import { isAppError } from '../../core/error.ts'
import { assertModel } from '../../models/resolve.ts'
import {
  checkSettings,
  describe,
  duration,
  isObject,
  oneOf,
  type SettingRule,
  wholeNumber,
  wrong,
} from '../base/setting-check.ts'
import { approvalRule, checkApprovalNames } from '../tools/approvals.ts'
import type { AgentGuardrails } from './guardrails.ts'
import type { AgentHooks } from './hooks.ts'
import { searchToolName } from './model-answer.ts'
import type { AgentKnowledge, AgentMemory, AnyAgentSettings } from './settings.ts'

const knowledgeRules = {
  mode: oneOf('first', 'tool'),
  limit: wholeNumber(1, 100),
  filters: 'object',
  collection: 'string',
} satisfies Record<keyof AgentKnowledge, SettingRule>

const memoryRules = {
  runs: wholeNumber(0, 1000),
  tokens: wholeNumber(1, 100_000_000),
  summary: 'boolean',
} satisfies Record<keyof AgentMemory, SettingRule>

const checks: SettingRule = (value) =>
  typeof value === 'function' || (Array.isArray(value) && value.every((check) => typeof check === 'function'))
    ? undefined
    : `must be a function or an array of functions, not ${describe(value)}`

const guardrailRules = { input: checks, output: checks } satisfies Record<keyof AgentGuardrails, SettingRule>

const hookRules = { run: 'function', modelCall: 'function', toolCall: 'function' } satisfies Record<
  keyof AgentHooks,
  SettingRule
>

const limit = wholeNumber(1, 2 ** 31 - 1)
const timeoutRules = {
  totalMs: limit,
  stepMs: limit,
  firstChunkMs: limit,
  chunkMs: limit,
  toolMs: limit,
  tools: 'object',
} satisfies Record<keyof Exclude<NonNullable<AnyAgentSettings['timeout']>, Duration>, SettingRule>

const instructions: SettingRule = (value) =>
  typeof value === 'string' || isObject(value) || Array.isArray(value)
    ? undefined
    : 'must be a string or a system message'

/** Every setting that there is: the compiler refuses one too few and one too many. */
const rules: Record<keyof AnyAgentSettings, SettingRule> = {
  name: 'string',
  description: 'string',
  model: 'any',
  instructions,
  tools: 'object',
  knowledge: (value) =>
    value === true || isObject(value) ? undefined : 'must be true or { mode, limit, filters, collection }',
  memory: 'object',
  cache: 'object',
  guardrails: 'object',
  hooks: 'object',
  timeout: (value) => (isObject(value) ? undefined : problemOfDuration(value)),
  sideEffects: 'boolean',
  run: 'function',
  output: 'object',
  stopWhen: 'any',
  toolChoice: 'any',
  activeTools: 'array',
  toolOrder: 'array',
  toolCallConcurrency: 'number',
  toolApproval: approvalRule,
  toolsContext: 'object',
  runtimeContext: 'object',
  maxOutputTokens: 'number',
  temperature: 'number',
  topP: 'number',
  topK: 'number',
  presencePenalty: 'number',
  frequencyPenalty: 'number',
  stopSequences: 'array',
  seed: 'number',
  reasoning: 'any',
  maxRetries: wholeNumber(0, 100),
  headers: 'object',
  providerOptions: 'object',
  allowSystemInMessages: 'boolean',
  telemetry: 'object',
  include: 'object',
  prepareStep: 'function',
  prepareCall: 'function',

  repairToolCall: 'function',
  onStart: 'function',
  onStepStart: 'function',
  onStepEnd: 'function',
  onStepError: 'function',
  onStepFinish: 'function',
  onLanguageModelCallStart: 'function',
  onLanguageModelCallEnd: 'function',
  onToolExecutionStart: 'function',
  onToolExecutionEnd: 'function',
  onError: 'function',
  onAbort: 'function',
  onEnd: 'function',
  onFinish: 'function',
  experimental_telemetry: 'object',
  experimental_toolCallers: 'any',
  experimental_toolApprovalSecret: 'any',
  experimental_repairToolCall: 'function',
  experimental_refineToolInput: 'object',
  experimental_onStart: 'function',
  experimental_onStepStart: 'function',
  experimental_download: 'function',
}

/** What goes with a `run` of the agent's own; everything else is about the model that it replaces. */
const withRun: ReadonlySet<string> = new Set([
  'name',
  'description',
  'run',
  'cache',
  'timeout',
  'sideEffects',
  'knowledge',
  'guardrails',
  'hooks',
])

/** Throws `invalid_request` naming the key and what is allowed. */
export function checkAgentSettings(settings: AnyAgentSettings): void {
  checkSettings('agent()', settings, rules, '', { effects: 'sideEffects' })
  if (settings.model !== undefined) checkModel(settings.model)
  if (isObject(settings.knowledge)) checkSettings('agent()', settings.knowledge, knowledgeRules, 'knowledge')
  if (settings.memory !== undefined) checkSettings('agent()', settings.memory, memoryRules, 'memory')
  if (settings.cache !== undefined) {
    checkSettings('agent()', settings.cache, { ttl: duration, shared: 'boolean' }, 'cache')
    if (settings.cache.ttl === undefined)
      throw wrong('cache.ttl', "agent(): `cache` needs a `ttl`, like { ttl: '10m' }")
  }
  if (settings.guardrails !== undefined) checkSettings('agent()', settings.guardrails, guardrailRules, 'guardrails')
  if (settings.hooks !== undefined) checkSettings('agent()', settings.hooks, hookRules, 'hooks')
  checkTimeout(settings)
  checkTools(settings)
  if (settings.run !== undefined) {
    const useless = uselessWithRun(settings)
    if (useless !== undefined) {
      throw wrong(
        useless,
        `agent(): \`run\` takes the place of the model, so \`${useless}\` would do nothing; leave one of them out`,
      )
    }
  } else if (settings.sideEffects === false) {
    throw wrong(
      'sideEffects',
      'agent(): `sideEffects: false` is for an agent with a `run` of its own; a model call is a side effect',
    )
  }
}

/** The first setting that is about the model, which `run` takes the place of. */
function uselessWithRun({ hooks, ...settings }: AnyAgentSettings): string | undefined {
  const useless = Object.entries(settings).find(([key, value]) => value !== undefined && !withRun.has(key))?.[0]
  if (useless !== undefined) return useless
  const hook = Object.entries(hooks ?? {}).find(([key, value]) => value !== undefined && key !== 'run')?.[0]
  return hook === undefined ? undefined : `hooks.${hook}`
}

function checkTimeout({ timeout }: AnyAgentSettings): void {
  if (typeof timeout !== 'object') return
  checkSettings('agent()', timeout, timeoutRules, 'timeout')
  const perTool = Object.keys(timeout.tools ?? {}).map((key) => [key, limit])
  const rules = Object.fromEntries(perTool) as Record<string, SettingRule>
  const misnamed = Object.keys(rules).find((key) => !key.endsWith('Ms'))
  if (misnamed !== undefined)
    throw wrong(`timeout.tools.${misnamed}`, `agent(): \`timeout.tools\` names a tool with Ms behind it: ${misnamed}Ms`)
  if (timeout.tools !== undefined) checkSettings('agent()', timeout.tools, rules, 'timeout.tools')
}

function checkTools({ tools, knowledge, toolApproval, prepareCall }: AnyAgentSettings): void {
  for (const [name, tool] of Object.entries(tools ?? {})) {
    if (!isObject(tool) || !('inputSchema' in tool || 'type' in tool)) {
      throw wrong(
        `tools.${name}`,
        `agent(): \`tools.${name}\` is not a tool; make it with tool({ description, inputSchema, execute })`,
      )
    }
  }
  if (isObject(knowledge) && knowledge.mode === 'tool' && tools !== undefined && searchToolName in tools) {
    throw wrong(
      `tools.${searchToolName}`,
      `agent(): \`knowledge.mode\` 'tool' adds a tool '${searchToolName}'; give yours another name`,
    )
  }
  // What `prepareCall` brings is known with the first run.
  const searches = isObject(knowledge) && knowledge.mode === 'tool' ? [searchToolName] : []
  if (prepareCall === undefined) checkApprovalNames(toolApproval, tools ?? {}, searches)
}

function checkModel(model: unknown): void {
  try {
    assertModel(model)
  } catch (error) {
    if (!isAppError(error)) throw error
    throw wrong('model', `agent(): \`model\`: ${error.message.replace(/\.$/, '')}`)
  }
}

function problemOfDuration(value: unknown): string | undefined {
  return typeof duration === 'function' ? duration(value) : undefined
}
