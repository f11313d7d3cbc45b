import type { ToolSet } from 'ai'
import type { InputRequired, RunEvent } from '../../core/event.ts'
import { AskScope } from '../base/ask-scope.ts'
import { deriveContext } from '../base/derived-context.ts'
import type { Asking } from '../base/perform-ask.ts'
import { withContext } from '../base/run-context.ts'
import { WaitingCall } from '../tools/waiting-call.ts'

type Execute = (input: unknown, options: { toolCallId: string }) => unknown

type Tell = (options: { output: unknown }) => unknown

/** Lets each call of these tools ask. A call whose asks wait ends as a `WaitingCall`. */
export function askingTools(tools: ToolSet, asking: Asking): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => {
      if (tool.execute === undefined) return [name, tool]
      const execute = tool.execute as unknown as Execute
      const call: Execute = (input, options) => askingCall(asking, options.toolCallId, () => execute(input, options))
      const tell = tool.toModelOutput as Tell | undefined
      const toModelOutput: Tell | undefined =
        tell && ((options) => (options.output instanceof WaitingCall ? { type: 'json', value: null } : tell(options)))
      return [name, { ...tool, execute: call, ...(toModelOutput && { toModelOutput }) } as unknown as ToolSet[string]]
    }),
  )
}

/** Makes a call that may ask. `earlier`: events of the same call, which is made again. */
export function askingCall(
  asking: Asking,
  callId: string,
  work: () => unknown,
  earlier?: readonly RunEvent[],
): Promise<unknown> {
  const paused = Promise.withResolvers<WaitingCall>()
  const onWaiting = (requests: readonly InputRequired[]) => paused.resolve(new WaitingCall(requests))
  const { ask } = new AskScope(asking, { parent: callId, earlier, onWaiting })
  const context = deriveContext(asking.context, { ask })
  return Promise.race([Promise.resolve(withContext(context, work)), paused.promise])
}
