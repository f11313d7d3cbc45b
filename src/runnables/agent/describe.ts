import type { OutputInterface } from 'ai'
import { searchToolName } from '../../core/again/plan.ts'
import { type EntityConfig, noConfig } from '../../core/entity/config.ts'
import type { JsonObject } from '../../core/json.ts'
import { type ModelChoice, modelsOf } from '../../core/model.ts'
import { describeModel } from '../../models/name.ts'
import type { Defaults } from '../base/defaults.ts'
import { isStructured } from '../model/structured.ts'
import { toolConfigs } from '../tools/describe.ts'
import { fingerprint } from './fingerprint.ts'
import { instructionsText } from './instructions.ts'
import { searchToolLook } from './model-answer.ts'
import type { CheckedAgent, CheckedKnowledge } from './schema.ts'
import { memoryToolLook } from './user-memory.ts'

/** What an operator may read of an agent's settings: only what is named here, so that no key gets in. */
export async function agentConfig(settings: CheckedAgent, defaults: Defaults): Promise<EntityConfig> {
  const { tools = {}, knowledge, memory, guardrails, hooks = {}, toolApproval, run } = settings
  const searching = knowledge?.mode === 'tool' ? { [searchToolName]: await searchToolLook() } : {}
  const remembering = memory.user && run === undefined ? await memoryToolLook() : {}
  return {
    ...noConfig,
    fallback_models: run === undefined ? fallbackNames(settings.model ?? defaults.model) : [],
    instructions: instructionsText(settings.instructions),
    tools: await toolConfigs({ ...tools, ...searching, ...remembering }, toolApproval, defaults),
    knowledge: knowledge === undefined ? null : toKnowledge(knowledge),
    memory:
      run === undefined || memory.user
        ? { ...memory, tokens: Number.isFinite(memory.tokens) ? memory.tokens : null }
        : null,
    output_schema: await outputSchema(settings.output),
    guardrails: { input: namesOf(guardrails?.input), output: namesOf(guardrails?.output) },
    hooks: [...setIn(hooks), ...functionsIn(settings)],
    version: fingerprint({ ...settings, model: settings.model ?? defaults.model }) ?? null,
  }
}

export async function outputSchema(output: OutputInterface | undefined): Promise<JsonObject | null> {
  if (!isStructured(output)) return null
  const format = await output.responseFormat
  return format?.type === 'json' ? ((format.schema as JsonObject | undefined) ?? null) : null
}

function toKnowledge({ mode, limit, filters, collection }: CheckedKnowledge): EntityConfig['knowledge'] {
  return { mode, limit, filters: (filters as JsonObject | undefined) ?? null, collection: collection ?? null }
}

function namesOf(checks: unknown): string[] {
  return [checks ?? []].flat().map((check, place) => (check as { name: string }).name || `${place + 1}`)
}

function fallbackNames(model: ModelChoice | undefined): string[] {
  return model === undefined ? [] : modelsOf(model).slice(1).map(describeModel)
}

/** The settings that are code and change what the model is told. */
function functionsIn({ instructions, prepareCall, prepareStep }: CheckedAgent): string[] {
  return setIn({
    instructions: typeof instructions === 'function' ? instructions : undefined,
    prepareCall,
    prepareStep,
  })
}

function setIn(settings: object): string[] {
  return Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [name]))
}
