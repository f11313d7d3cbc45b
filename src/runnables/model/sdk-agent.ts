import type { Instructions, OutputInterface, ToolLoopAgentSettings, ToolSet } from 'ai'
import type { ModelObject, ModelSetting } from '../../core/model.ts'
import { describeModel } from '../../models/name.ts'
import { resolveModel } from '../../models/resolve.ts'
import type { CheckedAgent } from '../agent/schema.ts'
import { loadSdk } from '../base/sdk.ts'
import type { ToolApproval } from '../tools/approvals.ts'
import { waitsInside } from '../tools/waiting-call.ts'
import { CallerParts } from './caller-parts.ts'
import type { SdkAgent } from './run.ts'
import { isStructured, wholeOutput } from './structured.ts'

type Download = ToolLoopAgentSettings['experimental_download']

/** What differs between runs: tools, model, and the wrapper of every model that a step may name. */
export interface RunParts {
  model: ModelObject
  tools: ToolSet
  equip: (model: ModelObject, name: string) => ModelObject | Promise<ModelObject>
  approve: Approve
  /** The agent's own in this run. */
  own?: Instructions | undefined
  /** The caller's, after the agent's own. */
  instructions?: string | undefined
  /** In place of the agent's own. */
  instead?: string | undefined
  /** The caller's, instead of the agent's own. */
  output?: OutputInterface | undefined
  /** Names of the client tools; they are active whatever `activeTools` names. */
  clientTools?: readonly string[] | undefined
  /** The AI SDK's own would connect to private addresses. */
  download: Download
  stopWhen: CheckedAgent['stopWhen']
}

/** The AI SDK's `toolApproval`; `present`: the tools that a call has. Throws for a name without a tool. */
export type Approve = (approval: ToolApproval, present?: ToolSet) => ToolApproval

/** Makes the AI SDK's agent for each run; work that is the same for all runs is done once. */
export function sdkAgents(settings: CheckedAgent, root: string | undefined, models = 1) {
  const { name, description, knowledge, memory, cache, guardrails, hooks, sideEffects, run, ...sdk } = settings
  const { timeout, output, prepareStep, prepareCall, toolApproval, instructions: _perRun, ...rest } = sdk
  const common = {
    // The run fails with the error; by default the SDK would print it too.
    onError: () => {},
    ...rest,
    ...(output === undefined ? {} : { output: isStructured(output) ? wholeOutput(output) : output }),
    ...(typeof timeout === 'object' ? { timeout: withoutTools(timeout, models) } : {}),
  }
  return async (parts: RunParts): Promise<SdkAgent> => {
    const {
      model,
      tools,
      equip,
      approve,
      download,
      clientTools = [],
      stopWhen,
      own,
      instructions,
      instead,
      output,
    } = parts
    const { ToolLoopAgent } = await loadSdk()
    const stepped = prepareStep && withResolvedModel(prepareStep, root, equip)
    const called = prepareCall && prepared(withResolvedModel(prepareCall, root, equip), approve, download)
    const caller =
      instructions === undefined && output === undefined && instead === undefined
        ? undefined
        : new CallerParts(instructions, output, instead)
    const whole = {
      ...common,
      model,
      ...(own === undefined ? {} : { instructions: own }),
      experimental_download: download,
      stopWhen,
      ...(rest.activeTools === undefined ? {} : { activeTools: [...rest.activeTools, ...clientTools] }),
      // In place of the agent's own, which may be sources that have no tools now.
      tools: Object.keys(tools).length === 0 ? undefined : tools,
      ...(stepped === undefined ? {} : { prepareStep: caller?.aroundStep(stepped) ?? stepped }),
      toolApproval: called === undefined ? approve(toolApproval) : toolApproval,
      ...(caller === undefined ? called && { prepareCall: called } : { prepareCall: caller.aroundCall(called) }),
    } as unknown as ToolLoopAgentSettings<never, ToolSet>
    return new ToolLoopAgent(whole) as unknown as SdkAgent
  }
}

/** Resolves a model name of a step or call like any other, never by the SDK. */
function withResolvedModel<OPTIONS extends { model?: unknown }, RESULT>(
  prepare: (options: OPTIONS) => RESULT,
  root: string | undefined,
  equip: RunParts['equip'],
) {
  return async (options: OPTIONS): Promise<Awaited<RESULT>> => {
    const prepared = await prepare(options)
    const model = (prepared as { model?: unknown } | undefined)?.model
    if (model === undefined || model === options.model) return prepared
    const setting = model as ModelSetting
    return { ...prepared, model: await equip(await resolveModel(setting, { root }), describeModel(setting)) }
  }
}

/** A call may add tools and approvals; without approvals the agent's apply. It can't change how files are fetched. */
function prepared<OPTIONS extends { toolApproval?: unknown; stopWhen?: unknown }, RESULT extends object | undefined>(
  prepare: (options: OPTIONS) => Promise<RESULT>,
  approve: Approve,
  download: Download,
) {
  return async (options: OPTIONS) => {
    const changed: { toolApproval?: unknown; stopWhen?: unknown; tools?: ToolSet } = (await prepare(options)) ?? options
    const { toolApproval = options.toolApproval, stopWhen = options.stopWhen, tools } = changed
    // Whatever a call sets, the model stops when what a tool asked waits.
    const stops = stopWhen === options.stopWhen ? {} : { stopWhen: [...[stopWhen].flat(), waitsInside] }
    const approval = approve(toolApproval as ToolApproval, tools)
    return { ...changed, ...stops, experimental_download: download, toolApproval: approval }
  }
}

/** The tools enforce their own time limits, even if one ignores its signal. Each of several models has its time to begin. */
function withoutTools(
  { toolMs, tools, firstChunkMs, ...rest }: Exclude<NonNullable<CheckedAgent['timeout']>, number>,
  models: number,
) {
  return firstChunkMs === undefined ? rest : { ...rest, firstChunkMs: firstChunkMs * models }
}
