import type { ModelMessage, ToolSet } from 'ai'
import { messageOf } from '../../core/error.ts'
import type { EmittedEvent, RunEvent, ToolProgress } from '../../core/event.ts'
import type { RunContext } from '../../core/runnable.ts'
import { Channel } from '../../runtime/channel.ts'
import { askingOf } from '../base/ask-scope.ts'
import { toJson } from '../base/json-value.ts'
import type { ModelFiles } from '../files/model-files.ts'
import { WaitingCall } from '../tools/waiting-call.ts'
import { askingCall } from './asking-call.ts'
import { type ToolOutput, withOutputs } from './checkpoint.ts'
import { paused } from './run.ts'

interface Call {
  callId: string
  name: string
  input: unknown
}

type Execute = (input: unknown, options: object) => unknown

/** What a run makes again when it is resumed: its messages, the ids of the calls, and its tools. */
export interface CallsAgain {
  messages: ModelMessage[]
  again: readonly string[]
  /** Of the tools whose calls are approved and are made later. */
  hashes: Readonly<Record<string, string>>
  tools: ToolSet
  toolsContext?: object | undefined
  files: Pick<ModelFiles, 'toReferences'>
}

/**
 * Makes the calls again whose asks waited, and gives the messages with their results. Undefined when one of them waits
 * again: the run then pauses.
 */
export async function* callAgain(
  { messages, again, hashes, tools, toolsContext = {}, files }: CallsAgain,
  context: RunContext,
): AsyncGenerator<EmittedEvent, ModelMessage[] | undefined> {
  const queue = new Channel<EmittedEvent>()
  const asking = askingOf(context, (event) => queue.push(event))
  const events = context.resumed?.events ?? []
  const outputs = new Map<string, ToolOutput>()
  const waiting = new Map<string, WaitingCall>()

  async function call({ callId, name, input }: Call): Promise<void> {
    const startedAt = Date.now()
    const end = (outcome: { output: ReturnType<typeof toJson> } | { error: { message: string } }) =>
      queue.push({ type: 'tool_result', call_id: callId, name, ...outcome, duration_ms: Date.now() - startedAt })
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined
    try {
      if (tool?.execute === undefined) throw new Error(`The tool '${name}' is gone, so the call was not made.`)
      const execute = tool.execute as unknown as Execute
      const own: unknown = Reflect.get(toolsContext, name)
      const tell = (event: ToolProgress) => void queue.push(event)
      const options = { toolCallId: callId, messages, abortSignal: context.signal, context: own, tell }
      const output = await askingCall(asking, callId, () => execute(input, options), since(events, callId))
      if (output instanceof WaitingCall) return void waiting.set(callId, output)
      outputs.set(callId, await told(tool, callId, input, output))
      await end({ output: toJson(output) })
    } catch (error) {
      // Like any tool error, it goes to the model.
      context.signal.throwIfAborted()
      outputs.set(callId, { type: 'error-text', value: messageOf(error) })
      await end({ error: { message: messageOf(error) } })
    }
  }

  Promise.all(callsOf(messages, again).map(call)).then(
    () => queue.close(),
    (error: unknown) => queue.close({ error }),
  )
  yield* queue
  const now = withOutputs(messages, outputs)
  if (waiting.size === 0) return now
  yield* paused([], await files.toReferences(now), waiting, hashes)
  return undefined
}

function callsOf(messages: readonly ModelMessage[], ids: readonly string[]): Call[] {
  const calls = new Map<string, Call>()
  for (const { role, content } of messages) {
    if (role !== 'assistant' || typeof content === 'string') continue
    for (const part of content) {
      if (part.type !== 'tool-call' || !ids.includes(part.toolCallId)) continue
      calls.set(part.toolCallId, { callId: part.toolCallId, name: part.toolName, input: part.input })
    }
  }
  return [...calls.values()]
}

/** What happened since an earlier call with the same id ended. */
function since(events: readonly RunEvent[], callId: string): readonly RunEvent[] {
  return events.slice(events.findLastIndex((event) => event.type === 'tool_result' && event.call_id === callId) + 1)
}

async function told(tool: ToolSet[string], toolCallId: string, input: unknown, output: unknown): Promise<ToolOutput> {
  const tell = tool.toModelOutput as
    | ((options: { toolCallId: string; input: unknown; output: unknown }) => ToolOutput | Promise<ToolOutput>)
    | undefined
  if (tell !== undefined) return tell({ toolCallId, input, output })
  return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: toJson(output) }
}
