import type { ModelMessage, ToolLoopAgentSettings, ToolSet } from 'ai'
import type { Duration } from '../core/duration.ts'
import { AppError } from '../core/error.ts'
import type { EmittedEvent } from '../core/event.ts'
import type { ModelObject, ModelSetting } from '../core/model.ts'
import type { RunContext, RunInput } from '../core/runnable.ts'
import { describeModel, resolveModel } from '../models/resolve.ts'
import { callOf } from './agent-call.ts'
import type { AgentKnowledge, AnyAgentSettings } from './agent-settings.ts'
import type { Binding } from './binding.ts'
import { EventQueue } from './event-queue.ts'
import { messageOf } from './json-value.ts'
import { remember } from './memory.ts'
import { hookedModel } from './model-hook.ts'
import { runAgent, type SdkAgent } from './model-run.ts'
import { passagesText, retrieve, sourceEvent } from './passages.ts'
import { partsText } from './prompt.ts'
import { isStructured, structured, wholeOutput } from './structured.ts'
import { equipTools } from './tool-calls.ts'
import { openTools } from './tool-source.ts'

export const searchToolName = 'search_knowledge'

/** An agent's way of answering with a model; the model is resolved at its first run. */
export function modelAnswer(settings: AnyAgentSettings, setting: ModelSetting, binding: Binding) {
  const { root } = binding
  const label = describeModel(setting)
  const knowledge = settings.knowledge === true ? {} : settings.knowledge
  let resolving: Promise<ModelObject> | undefined
  const resolve = () => {
    resolving ??= resolveModel(setting, { root }).catch((error: unknown) => {
      resolving = undefined
      // What the server lacks is no fault of the request.
      throw new AppError('run_failed', messageOf(error), { cause: error })
    })
    return resolving
  }
  return async function* run(input: RunInput, context: RunContext): AsyncGenerator<EmittedEvent> {
    const messages = await remember(settings.memory, context)
    const question = partsText(input.parts)
    let prompt = question
    if (knowledge !== undefined && knowledge.mode !== 'tool' && input.text.trim() !== '') {
      const { hits, event } = await retrieve(knowledge, input.text, context)
      yield event
      for (const [place, hit] of hits.entries()) yield sourceEvent(hit, place + 1)
      if (hits.length > 0) prompt = `${passagesText(hits)}\n\n${question}`
    }
    messages.push({ role: 'user', content: prompt } satisfies ModelMessage)
    const queue = new EventQueue<EmittedEvent>()
    const tools = await openTools(settings.tools, context, binding)
    if (knowledge?.mode === 'tool') tools[searchToolName] = await searchTool(knowledge, context, queue)
    const call = callOf(input, context)
    const hook = settings.hooks?.modelCall
    const equip = (model: ModelObject) => (hook === undefined ? model : hookedModel(model, hook, call))
    const equipped = equipTools(tools, settings, call)
    const agent = await sdkAgent(settings, await equip(await resolve()), equipped, root, equip)
    const events = runAgent({ agent, messages, signal: context.signal, queue, label, setting })
    yield* isStructured(settings.output) ? structured(events, settings.output) : events
  }
}

type Equip = (model: ModelObject) => ModelObject | Promise<ModelObject>

async function sdkAgent(
  settings: AnyAgentSettings,
  model: ModelObject,
  tools: ToolSet,
  root: string | undefined,
  equip: Equip,
): Promise<SdkAgent> {
  const { ToolLoopAgent } = await import('ai')
  const { name, description, knowledge, memory, cache, guardrails, hooks, effects, run, ...sdk } = settings
  const { timeout, output, prepareStep, prepareCall, ...rest } = sdk
  const sdkSettings = {
    // The run fails with the error; without this the SDK prints it as well.
    onError: () => {},
    ...rest,
    model,
    tools,
    ...(output === undefined ? {} : { output: isStructured(output) ? wholeOutput(output) : output }),
    ...(typeof timeout === 'object' ? { timeout: withoutTools(timeout) } : {}),
    ...(prepareStep === undefined ? {} : { prepareStep: withResolvedModel(prepareStep, root, equip) }),
    ...(prepareCall === undefined ? {} : { prepareCall: withResolvedModel(prepareCall, root, equip) }),
  } as unknown as ToolLoopAgentSettings<never, ToolSet>
  return new ToolLoopAgent(sdkSettings) as unknown as SdkAgent
}

/** A step or a call may name another model; a name is resolved as everywhere, and never left to the SDK. */
function withResolvedModel<OPTIONS extends { model?: unknown }, RESULT>(
  prepare: (options: OPTIONS) => RESULT,
  root: string | undefined,
  equip: Equip,
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

async function searchTool(
  knowledge: AgentKnowledge,
  context: RunContext,
  queue: EventQueue<EmittedEvent>,
): Promise<ToolSet[string]> {
  const { jsonSchema, tool } = await import('ai')
  let found = 0
  return tool({
    description: 'Searches the knowledge base and gives the passages that fit best, numbered, with their sources.',
    inputSchema: jsonSchema<{ query: string }>({
      type: 'object',
      properties: { query: { type: 'string', description: 'What to look for, in the words of the documents.' } },
      required: ['query'],
      additionalProperties: false,
    }),
    async execute({ query }) {
      const { hits, event } = await retrieve(knowledge, query, context)
      const first = found + 1
      found += hits.length
      void queue.push(event)
      for (const [place, hit] of hits.entries()) void queue.push(sourceEvent(hit, first + place))
      return hits.length === 0 ? 'Nothing was found.' : passagesText(hits, first)
    },
  })
}
