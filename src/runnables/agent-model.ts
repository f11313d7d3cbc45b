import type { ModelMessage, ToolLoopAgentSettings, ToolSet } from 'ai'
import { AppError } from '../core/error.ts'
import type { EmittedEvent } from '../core/event.ts'
import type { ModelObject, ModelSetting } from '../core/model.ts'
import type { RunContext, RunInput } from '../core/runnable.ts'
import { describeModel, resolveModel } from '../models/resolve.ts'
import type { AgentKnowledge, AnyAgentSettings } from './agent-settings.ts'
import type { Binding } from './binding.ts'
import { EventQueue } from './event-queue.ts'
import { messageOf } from './json-value.ts'
import { remember } from './memory.ts'
import { runAgent, type SdkAgent } from './model-run.ts'
import { passagesText, retrieve, sourceEvent } from './passages.ts'
import { partsText } from './prompt.ts'
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
    const agent = await sdkAgent(settings, await resolve(), tools, root)
    yield* runAgent({ agent, messages, signal: context.signal, queue, label, setting })
  }
}

async function sdkAgent(
  settings: AnyAgentSettings,
  model: ModelObject,
  tools: ToolSet,
  root: string | undefined,
): Promise<SdkAgent> {
  const { ToolLoopAgent } = await import('ai')
  const { name, description, knowledge, memory, cache, effects, run, timeout, prepareStep, prepareCall, ...rest } =
    settings
  const sdkSettings = {
    // The run fails with the error; without this the SDK prints it as well.
    onError: () => {},
    ...rest,
    model,
    tools,
    ...(typeof timeout === 'object' ? { timeout } : {}),
    ...(prepareStep === undefined ? {} : { prepareStep: withResolvedModel(prepareStep, root) }),
    ...(prepareCall === undefined ? {} : { prepareCall: withResolvedModel(prepareCall, root) }),
  } as unknown as ToolLoopAgentSettings<never, ToolSet>
  return new ToolLoopAgent(sdkSettings) as unknown as SdkAgent
}

/** A step or a call may name another model; a name is resolved as everywhere, and never left to the SDK. */
function withResolvedModel<OPTIONS, RESULT>(prepare: (options: OPTIONS) => RESULT, root: string | undefined) {
  return async (options: OPTIONS): Promise<Awaited<RESULT>> => {
    const prepared = await prepare(options)
    const model = (prepared as { model?: unknown } | undefined)?.model
    if (typeof model !== 'string') return prepared
    return { ...prepared, model: await resolveModel(model as ModelSetting, { root }) }
  }
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
