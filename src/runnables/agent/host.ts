import type { OutputInterface, ToolSet } from 'ai'
import { noConfig } from '../../core/entity/config.ts'
import { isModelObject } from '../../core/model.ts'
import type { EntityKind } from '../../core/run.ts'
import { isRunnable, markRunnable, type Runnable } from '../../core/runnable.ts'
import { describeModel } from '../../models/name.ts'
import { wrong } from '../../schema/check.ts'
import { isObject } from '../../schema/field.ts'
import { configurable, type Defaults } from '../base/defaults.ts'
import { fetchingOf } from '../files/fetch.ts'
import { ModelFiles } from '../files/model-files.ts'
import { bounded, noLimits } from '../limits/bounded.ts'
import { resumedMessages } from '../model/checkpoint.ts'
import { historyMessages, promptContent } from '../model/prompt.ts'
import { runAgent, type SdkAgent } from '../model/run.ts'
import { isStructured, structured } from '../model/structured.ts'
import { checkApprovalNames, problemOfApproval, type ToolApproval } from '../tools/approvals.ts'
import { toolConfigs } from '../tools/describe.ts'
import { checkResult as check } from '../tools/result.ts'
import { describeTools } from './agent.ts'
import { outputSchema } from './describe.ts'
import { instructionsText } from './instructions.ts'
import type { AnyAgentSettings } from './settings.ts'

/** The properties that identify an `Agent` of the AI SDK, whatever its tools, context and output. */
export interface HostableAgent {
  readonly version: 'agent-v1'
  readonly id: string | undefined
  readonly tools: object
  stream(options: never): PromiseLike<unknown>
}

/** Also true for an `Agent` of another copy of the AI SDK. */
export function isSdkAgent(value: unknown): value is HostableAgent {
  return isObject(value) && value.version === 'agent-v1' && typeof value.stream === 'function'
}

/** Any `Agent` of the AI SDK, unchanged: it gets the session's messages and answers; structured output becomes data. */
export function hostAgent(hosted: HostableAgent, defaults: Defaults = {}): Runnable<'agent'> {
  const { limits = noLimits } = defaults
  const agent = hosted as unknown as SdkAgent
  const { settings } = agent as {
    settings?: {
      instructions?: AnyAgentSettings['instructions']
      model?: unknown
      output?: OutputInterface
      toolApproval?: ToolApproval
      prepareCall?: unknown
    }
  }
  if (typeof settings?.model === 'string') {
    throw wrong(
      'model',
      `The AI SDK agent has the model '${settings.model}' as a text, which the AI SDK sends to a paid gateway; give it a model object, or use agent({ model })`,
    )
  }
  if (settings?.toolApproval !== undefined) {
    const problem = problemOfApproval(settings.toolApproval)
    if (problem !== undefined) throw wrong('toolApproval', `The AI SDK agent: \`toolApproval\` ${problem}`)
    // The tools that `prepareCall` adds are only known to the agent.
    if (settings.prepareCall === undefined) checkApprovalNames(settings.toolApproval, agent.tools ?? {}, [])
  }
  const checkResult = (name: string, output: unknown) => {
    const tool = (agent.tools as ToolSet | undefined)?.[name]
    check(name, output, tool?.toModelOutput !== undefined, limits.toolResult)
  }
  const entity = markRunnable({
    kind: 'agent',
    name: agent.id,
    model: isModelObject(settings?.model) ? describeModel(settings.model) : undefined,
    tools: describeTools(agent.tools ?? {}),
    knowledge: false,
    sideEffects: true,
    async describe() {
      return {
        ...noConfig,
        instructions: instructionsText(settings?.instructions),
        tools: await toolConfigs((agent.tools ?? {}) as ToolSet, settings?.toolApproval, defaults),
        output_schema: await outputSchema(settings?.output),
      }
    },
    async *run(input, context) {
      const tools = new Map(Object.keys(agent.tools ?? {}).map((name) => [name, {}]))
      const files = new ModelFiles(context, fetchingOf(defaults))
      const resumed = await resumedMessages(context, tools, files)
      const messages = resumed?.messages ?? [
        ...(await historyMessages(
          await context.history(context.given?.history === undefined ? undefined : Infinity),
          files,
        )),
        { role: 'user' as const, content: await promptContent(input.parts, files) },
      ]
      const events = runAgent({
        agent,
        // An agent of another kind may fetch addresses in its own way.
        messages: settings === undefined ? await files.fetchAll(messages) : messages,
        files,
        signal: context.signal,
        tools,
        denied: resumed?.denied,
        checkResult,
        progressBytes: limits.toolResult.recordBytes,
      })
      yield* isStructured(settings?.output) ? structured(bounded(events, limits), settings.output) : events
    },
  } satisfies Runnable<'agent'>)
  return configurable(entity, (next) => hostAgent(hosted, next))
}

/** The runnable for an entry of `agents`, `teams` or `workflows`. Throws `invalid_request` for any other value. */
export function toRunnable(kind: EntityKind, value: unknown): Runnable {
  if (isRunnable(value)) {
    if (value.kind === kind) return value
    throw wrong(
      '',
      `This is ${value.kind === 'agent' ? 'an agent' : `a ${value.kind}`}, but it is listed under \`${kind}s\`; move it to \`${value.kind}s\``,
    )
  }
  if (kind === 'agent' && isSdkAgent(value)) return hostAgent(value)
  const hint = kind === 'agent' ? 'agent({ … }), or an Agent of the AI SDK' : `${kind}({ … })`
  throw wrong('', `This is not ${kind === 'agent' ? 'an agent' : `a ${kind}`}; use ${hint}`)
}
