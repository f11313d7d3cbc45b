import type { OutputInterface, ToolSet } from 'ai'
import { searchToolName } from '../../core/again/plan.ts'
import type { InputRequired } from '../../core/event.ts'
import { type ModelChoice, modelsOf } from '../../core/model.ts'
import { type AnswerCache, markRunnable, type Runnable } from '../../core/runnable.ts'
import { describeModel } from '../../models/name.ts'
import { offlineModelName } from '../../models/offline.ts'
import { withAsk } from '../base/ask-scope.ts'
import { configurable, type Defaults } from '../base/defaults.ts'
import { repeatedBy, withoutSent } from '../base/replay.ts'
import { insideRun } from '../base/run-context.ts'
import { bounded, noLimits } from '../limits/bounded.ts'
import { isStructured } from '../model/structured.ts'
import { type Entity, withToolLook } from '../tools/as-tool.ts'
import { toolEntries, withToolEntries } from '../tools/check.ts'
import { clientToolProblem } from '../tools/client-tools.ts'
import { claimTools } from '../tools/source.ts'
import type { Answering } from './call.ts'
import { checkAgentSettings } from './check.ts'
import { agentConfig } from './describe.ts'
import { fingerprint } from './fingerprint.ts'
import { checksInput, guarded } from './guardrails.ts'
import { modelAnswer } from './model-answer.ts'
import { offlineAnswering } from './offline-answer.ts'
import { ownAnswer } from './own-answer.ts'
import { hookedRun } from './run-hook.ts'
import type { CheckedAgent } from './schema.ts'
import type { AgentSettings, AnyAgentSettings, RuntimeContext, ToolsContext } from './settings.ts'
import { memoryToolNames, memoryToolTexts, withUserMemory } from './user-memory.ts'

/**
 * An agent from the settings of the AI SDK's `ToolLoopAgent` and agentserve's own. Without a `model` it uses the
 * config's; without that too it quotes from its knowledge base. Wrong settings throw `invalid_request` naming the key.
 */
export function agent<
  TOOLS extends ToolSet = Record<never, never>,
  CONTEXT extends RuntimeContext = RuntimeContext,
  OUTPUT extends OutputInterface = never,
>(settings: AgentSettings<TOOLS, CONTEXT, OUTPUT> & ToolsContext<TOOLS>): Entity<'agent'> {
  return build(checkAgentSettings(settings as unknown as AnyAgentSettings), {})
}

function build(settings: CheckedAgent, defaults: Defaults): Entity<'agent'> {
  const { run: own, name, description, knowledge, timeout, sideEffects } = settings
  const model = own === undefined ? modelOf(settings, defaults) : undefined
  claimTools(settings.tools, defaults)
  const timeoutMs = typeof timeout === 'object' ? timeout.totalMs : timeout
  const modelled = model === undefined ? undefined : modelAnswer(settings, model, defaults)
  const answer = own !== undefined ? ownAnswer(own) : (modelled?.run ?? offlineAnswering(settings))
  const remembering = (run: Answering) => (settings.memory.user ? withUserMemory(run) : run)
  const entity: Runnable<'agent'> = {
    kind: 'agent',
    name,
    description,
    ...modelNames(own !== undefined, model),
    tools: listTools(settings),
    knowledge: knowledge !== undefined,
    sideEffects,
    ...(own === undefined ? { repeats: 'steps' } : {}),
    takes: takesOf(settings, model),
    cache: toCache(settings, model),
    timeoutMs,
    describe: () => agentConfig(settings, defaults),
    clientToolProblem: (tool) => toolProblem(tool, settings),
    ...(modelled?.checkInput === undefined ? {} : { checkInput: modelled.checkInput }),
    ...(checksInput(settings.guardrails) ? { checksInput: true } : {}),
    run: remembering(
      sideEffects
        ? inside(surround(answer, settings, defaults), own !== undefined)
        : surround(answer, settings, defaults),
    ),
  }
  return configurable(withToolEntries(withToolLook(markRunnable(entity)), toolEntries(settings, defaults)), (next) =>
    build(settings, next),
  )
}

function modelNames(
  isOwn: boolean,
  model: ModelChoice | undefined,
): Pick<Runnable, 'model' | 'fallbackModels' | 'modelSettings'> {
  if (isOwn || model === undefined) return { model: isOwn ? undefined : offlineModelName }
  const modelSettings = modelsOf(model)
  const [first, ...others] = modelSettings.map(describeModel)
  return { model: first, ...(others.length === 0 ? {} : { fallbackModels: others }), modelSettings }
}

function modelOf({ model }: CheckedAgent, defaults: Defaults): ModelChoice | undefined {
  const wanted = model ?? defaults.model
  return defaults.testDoubles?.model === undefined ? wanted : defaults.testDoubles.model(wanted)
}

function surround(answer: Answering, { guardrails, hooks }: CheckedAgent, { limits = noLimits }: Defaults): Answering {
  // An answer with output guardrails is held back until they have passed it.
  const held: Answering = (input, context) => bounded(answer(input, context), limits)
  const checked = guardrails === undefined ? answer : guarded(held, guardrails)
  return hooks?.run === undefined ? checked : hookedRun(checked, hooks.run)
}

/** With an `ask`. An agent's own `run` waits for what it asks, and is called again then. */
function inside(answer: Answering, isOwn: boolean): Answering {
  return (input, context) => {
    if (!isOwn) {
      const asking = withAsk(context)
      return insideRun(asking, () => answer(input, asking))
    }
    const repeated = repeatedBy(context.resumed)
    const onWaiting = (requests: readonly InputRequired[]) => context.pause(requests)
    const asking = withAsk(context, { earlier: repeated.events, onWaiting })
    const emissions = insideRun(asking, () => answer(input, asking))
    return repeated.events.length === 0 ? emissions : withoutSent(emissions, repeated.events, context.files)
  }
}

function takesOf({ run, output }: CheckedAgent, model: ModelChoice | undefined): Runnable['takes'] {
  if (run !== undefined) return ['instructions']
  if (model === undefined) return []
  return isStructured(output) ? ['client_tools', 'instructions'] : ['client_tools', 'instructions', 'output_schema']
}

function toCache(settings: CheckedAgent, model: ModelChoice | undefined): AnswerCache | undefined {
  const { cache, memory } = settings
  if (cache === undefined) return undefined
  const common = { ttlMs: cache.ttl, shared: cache.shared, ...(memory.user ? { facts: true } : {}) }
  const version = fingerprint({ ...settings, model: model ?? offlineModelName })
  // Code and tools may read more than the prompt, so the answer depends on the whole context.
  if (version === undefined) return { ...common, reads: 'context', runs: 1000 }
  return { ...common, version, reads: 'prompt', runs: memory.runs }
}

function toolProblem(name: string, settings: CheckedAgent): string | undefined {
  const { tools = {}, knowledge } = settings
  const added = knowledge?.mode === 'tool' ? [searchToolName] : []
  return clientToolProblem(name, tools, [...added, ...memoryToolNames(settings)])
}

function listTools(settings: CheckedAgent): Runnable['tools'] {
  const { tools, knowledge } = settings
  const searching = { name: searchToolName, description: 'Searches the knowledge base.' }
  const remembering = memoryToolNames(settings).map((name) => ({ name, description: memoryToolTexts[name] }))
  return [...describeTools(tools ?? {}), ...(knowledge?.mode === 'tool' ? [searching] : []), ...remembering]
}

/** Only texts: a description may also be a function of the tool's context, which a list does not have. */
export function describeTools(tools: ToolSet): { name: string; description?: string | undefined }[] {
  return Object.entries(tools).map(([name, { description }]) => ({
    name,
    description: typeof description === 'string' ? description : undefined,
  }))
}
