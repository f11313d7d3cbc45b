import type { ToolLoopAgentSettings, ToolSet } from 'ai'
import type { Duration } from '../core/duration.ts'
import type { ModelObject, ModelSetting } from '../core/model.ts'
import { resolveModel } from '../models/resolve.ts'
import type { AnyAgentSettings } from './agent-settings.ts'
import type { SdkAgent } from './model-run.ts'
import { loadSdk } from './sdk.ts'
import { isStructured, wholeOutput } from './structured.ts'

/** What one run brings: its tools, its model, and what is put round every model that a step may name. */
export interface RunParts {
  model: ModelObject
  tools: ToolSet
  equip: (model: ModelObject) => ModelObject | Promise<ModelObject>
}

/** Makes the AI SDK's agent for one run after the other; what does not change between them is done once. */
export function sdkAgents(settings: AnyAgentSettings, root: string | undefined) {
  const { name, description, knowledge, memory, cache, guardrails, hooks, effects, run, ...sdk } = settings
  const { timeout, output, prepareStep, prepareCall, ...rest } = sdk
  const common = {
    // The run fails with the error; without this the SDK prints it as well.
    onError: () => {},
    ...rest,
    ...(output === undefined ? {} : { output: isStructured(output) ? wholeOutput(output) : output }),
    ...(typeof timeout === 'object' ? { timeout: withoutTools(timeout) } : {}),
  }
  return async ({ model, tools, equip }: RunParts): Promise<SdkAgent> => {
    const { ToolLoopAgent } = await loadSdk()
    const whole = {
      ...common,
      model,
      ...(Object.keys(tools).length === 0 ? {} : { tools }),
      ...(prepareStep === undefined ? {} : { prepareStep: withResolvedModel(prepareStep, root, equip) }),
      ...(prepareCall === undefined ? {} : { prepareCall: withResolvedModel(prepareCall, root, equip) }),
    } as unknown as ToolLoopAgentSettings<never, ToolSet>
    return new ToolLoopAgent(whole) as unknown as SdkAgent
  }
}

/** A step or a call may name another model; a name is resolved as everywhere, and never left to the SDK. */
function withResolvedModel<OPTIONS extends { model?: unknown }, RESULT>(
  prepare: (options: OPTIONS) => RESULT,
  root: string | undefined,
  equip: RunParts['equip'],
) {
  return async (options: OPTIONS): Promise<Awaited<RESULT>> => {
    const prepared = await prepare(options)
    const model = (prepared as { model?: unknown } | undefined)?.model
    if (model === undefined || model === options.model) return prepared
    return { ...prepared, model: await equip(await resolveModel(model as ModelSetting, { root })) }
  }
}

/** Limits of tools are kept by the tools themselves, which hold also for one that does not heed its signal. */
function withoutTools({ toolMs, tools, ...rest }: Exclude<NonNullable<AnyAgentSettings['timeout']>, Duration>) {
  return rest
}
