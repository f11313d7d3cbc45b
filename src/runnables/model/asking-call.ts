import type { ToolSet } from 'ai'
import type { InputRequired, RunEvent } from '../../core/event.ts'
import { AskScope } from '../base/ask-scope.ts'
import { deriveContext } from '../base/derived-context.ts'
import type { Asking } from '../base/perform-ask.ts'
import { insideRun, withContext } from '../base/run-context.ts'
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
): unknown {
  const paused = Promise.withResolvers<WaitingCall>()
  const onWaiting = (requests: readonly InputRequired[]) => paused.resolve(new WaitingCall(requests))
  const { ask } = new AskScope(asking, { parent: callId, earlier, onWaiting })
  const context = deriveContext(asking.context, { ask })
  const result = withContext(context, work)
  if (!isStream(result)) return Promise.race([Promise.resolve(result), paused.promise])
  return untilPaused(
    insideRun(context, () => result),
    paused.promise,
  )
}

/** The results of a tool that gives several, and the waiting call as the last one. */
async function* untilPaused(results: AsyncIterable<unknown>, paused: Promise<WaitingCall>): AsyncGenerator<unknown> {
  const iterator = results[Symbol.asyncIterator]()
  const waiting = paused.then((value) => ({ done: true, value }) as const)
  try {
    while (true) {
      const next = await Promise.race([iterator.next(), waiting])
      if (next.value instanceof WaitingCall) yield next.value
      if (next.done) return
      yield next.value
    }
  } finally {
    // Not awaited: it may hang in what it asked.
    void iterator.return?.().catch(() => {})
  }
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
